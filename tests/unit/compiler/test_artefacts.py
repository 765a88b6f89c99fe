"""A compiled artefact folder as a whole: determined, complete in itself, and sound for the tools that take it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from itbc.cli import assembly
from itbc.compiler import compile_scenario
from itbc.compiler.emit import emit
from itbc.compiler.lower import lower
from itbc.compiler.plan import Plan
from itbc.compiler.target import Target
from itbc.contracts import schemas
from itbc.contracts.environment import Environment
from itbc.contracts.evaluation import Evaluation
from itbc.contracts.manifest import Manifest
from itbc.contracts.shape import read
from itbc.dsl.diagnostics import Sink
from itbc.dsl.model import Scenario

SAMPLE = Path(__file__).parents[2] / "golden" / "compiler" / "sample"
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    out = tmp_path_factory.mktemp("artefacts") / "out"
    sink = Sink()
    assert compile_scenario(SAMPLE, assembly.targets()["embedded"], assembly.catalogue(), out, sink, cache) is not None
    assert sink.diagnostics == ()
    return out


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def modules(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(folder.glob("terraform/*/main.tf.json")):
        yield path.parent.name, json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize(("seed", "where"), [("1", "a"), ("2", "b/c")])
def test_the_same_bytes_in_another_process_folder_and_order_of_hashing(
    folder: Path, cache: Path, tmp_path: Path, seed: str, where: str
):
    here = tmp_path / where
    shutil.copytree(SAMPLE, here / "sample")
    done = subprocess.run(
        [str(BIN / "itbc"), "compile", "sample/scenario.itb", "-o", "out"],
        cwd=here,
        # The second process has an empty cache, so it synthesises its stacks itself.
        env={**os.environ, "PYTHONHASHSEED": seed, "ITBC_CACHE": str(cache if seed == "1" else tmp_path / "cold")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert tree(here / "out") == tree(folder)


def test_nothing_of_this_machine_or_moment_is_in_it(folder: Path):
    for name, data in tree(folder).items():
        text = data.decode()
        assert str(SAMPLE.parent) not in text, name
        assert str(folder.parent) not in text, name
        assert os.uname().nodename + "." not in text, name
        if not name.startswith(("ansible/project/roles/", "files/images/")):
            assert not re.search(r"20\d\d-\d\d-\d\d", text), name


def test_every_contract_file_is_valid_and_reads_back(folder: Path):
    for name, shape in {"manifest": Manifest, "environment": Environment, "evaluation": Evaluation}.items():
        schemas.validate(name, (folder / f"{name}.json").read_bytes())
        read(folder / f"{name}.json", shape)


def test_the_manifest_has_the_digest_of_every_other_file(folder: Path):
    manifest = read(folder / "manifest.json", Manifest)
    files = tree(folder)
    del files["manifest.json"]
    assert manifest.files == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_every_resource_and_play_has_its_place_in_the_source(folder: Path):
    manifest = read(folder / "manifest.json", Manifest)
    named = {
        f"{stack}/{kind}.{name}"
        for stack, module in modules(folder)
        for kind, resources in module["resource"].items()
        for name in resources
    }
    assert set(manifest.origins) == named | {"play/wrong-address"}
    for origin in manifest.origins.values():
        lines = (SAMPLE / origin.file).read_text("utf-8").splitlines()
        assert 1 <= origin.line <= len(lines)
    broken = manifest.origins["application-shop-shop/itbc_kubernetes_object.deployment_checkout"]
    assert broken.file == "manifests/checkout.yaml"


def test_nobody_else_may_look_into_it(folder: Path):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_stacks_are_in_order_and_their_inputs_are_earlier_outputs(folder: Path):
    environment = read(folder / "environment.json", Environment)
    loaded = dict(modules(folder))
    outputs: dict[str, set[str]] = {}
    assert {stack.id for stack in environment.stacks} == set(loaded)
    for stack in environment.stacks:
        module = loaded[stack.id]
        assert stack.folder == f"terraform/{stack.id}"
        assert set(stack.needs) <= set(outputs)
        for reference in stack.inputs.values():
            source, _, output = reference.partition(".")
            assert source in stack.needs
            assert output in outputs[source]
        declared = set(module.get("variable", {}))
        assert declared == set(stack.inputs) | (declared & {"run_id", "state_dir", "expires", "masks"})
        outputs[stack.id] = set(module.get("output", {}))
    (cluster,) = environment.clusters
    assert set(cluster.signals) == {"alerts", "logs", "metrics", "traces"}
    for access in (cluster.kubeconfig, cluster.prometheus, cluster.alertmanager, *cluster.signals.values()):
        source, _, output = access.partition(".")
        assert output in outputs[source]


def test_modules_use_only_what_they_declare_and_what_is_there(folder: Path):
    for stack, module in modules(folder):
        text = json.dumps(module)
        assert '"//"' not in text
        assert set(re.findall(r"\$\{var\.(\w+)\}", text)) == set(module.get("variable", {}))
        assert module["terraform"]["backend"] == {"local": {"path": "terraform.tfstate"}}
        for reference in re.findall(r"path\.module\}/\.\./\.\./(files/[^\\\"]+)", text):
            assert (folder / reference).exists(), stack
        for need in re.findall(r'"(itbc_\w+)\.([\w-]+)"', text):
            assert need[1] in module["resource"][need[0]]
        assert sum(len(resources) for resources in module["resource"].values()) < 200


def test_what_looks_like_a_template_reaches_kubernetes_as_it_is(folder: Path):
    module = json.loads((folder / "terraform/application-shop-shop/main.tf.json").read_text("utf-8"))
    manifest = module["resource"]["itbc_kubernetes_object"]["deployment_load"]["manifest"]
    # Terraform's own way of reading: `$${` stands for `${`, `%%{` for `%{`.
    read_back = json.loads(manifest.replace("$${", "${").replace("%%{", "%{"))
    (container,) = read_back["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--greeting", "${HOME} {{ user }} %{if}"]
    assert not re.search(r"(?<!\$)\$\{", manifest)


def test_terraform_reads_every_module(folder: Path):
    """`get` loads the whole configuration without a provider; `validate` would need one."""
    for path in folder.glob("terraform/*/main.tf.json"):
        done = subprocess.run(
            ["terraform", f"-chdir={path.parent}", "get", "-no-color"],
            env={**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, "TF_DATA_DIR": str(folder.parent / "data")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_the_role_is_whole_and_carries_no_leftovers(folder: Path):
    role = folder / "ansible/project/roles/kubernetes_change"
    assert sorted(path.name for path in (role / "tasks").iterdir()) == ["inject.yml", "prove.yml", "undo.yml"]
    assert not list(role.rglob("*.pyc"))
    named = set(re.findall(r"^  (\w+):$", "".join(path.read_text() for path in role.glob("tasks/*.yml")), re.MULTILINE))
    own = {path.stem for path in (role / "library").glob("*.py")}
    assert own <= named


def test_ansible_takes_every_play(folder: Path, tmp_path: Path):
    plays = sorted(path.name for path in (folder / "ansible/project").glob("*.yml"))
    assert plays == ["wrong-address-inject.yml", "wrong-address-prove.yml", "wrong-address-undo.yml"]
    done = subprocess.run(
        [str(BIN / "ansible-playbook"), "--syntax-check", "-i", "../inventory", *plays],
        cwd=folder / "ansible/project",
        env={**os.environ, "ANSIBLE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr


def test_prometheus_takes_the_rules_and_every_query(folder: Path, tmp_path: Path):
    environment = read(folder / "environment.json", Environment)
    evaluation = read(folder / "evaluation.json", Evaluation)
    queries = [each.query for each in environment.baseline] + [each.query for each in evaluation.objectives]
    recorded = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    (tmp_path / "queries.yml").write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": recorded}]}))
    checked = [str(folder / "files/rules-shop.yml"), str(tmp_path / "queries.yml")]
    done = subprocess.run(["promtool", "check", "rules", *checked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 rules found" in done.stdout
    assert f"{len(queries)} rules found" in done.stdout


def test_the_agents_goal_says_nothing_of_the_truth(folder: Path):
    environment = read(folder / "environment.json", Environment)
    assert "checkout" not in environment.task.goal


def test_a_large_application_is_cut_into_stacks(scenario: Scenario, embedded: Target, tmp_path: Path, cache: Path):
    (cluster,) = scenario.environment.clusters
    (shop,) = cluster.applications
    sample = next(declared for declared in shop.objects if declared.ref.kind == "ConfigMap")
    many = tuple(
        replace(sample, ref=replace(sample.ref, name=f"c{number}"), manifest={**sample.manifest, "n": number})
        for number in range(320)
    )
    big = replace(shop, objects=(*shop.objects, *many))
    asked = replace(
        scenario,
        environment=replace(scenario.environment, clusters=(replace(cluster, applications=(big,)),)),
    )
    plan = lower(asked, embedded, Sink())
    assert plan is not None
    emit(plan, embedded, tmp_path / "out", cache)
    environment = read(tmp_path / "out" / "environment.json", Environment)
    parts = [stack for stack in environment.stacks if stack.id.startswith("application")]
    assert [stack.id for stack in parts] == [
        "application-shop-shop",
        "application-shop-shop-2",
        "application-shop-shop-3",
    ]
    assert set(parts[2].needs) == {"cluster-shop", "application-shop-shop", "application-shop-shop-2"}
    sizes = [
        len(module["resource"]["itbc_kubernetes_object"])
        for stack, module in modules(tmp_path / "out")
        if stack.startswith("application")
    ]
    assert sum(sizes) == 327
    assert max(sizes) <= 150


def test_a_plan_without_faults_has_no_plays(plan: Plan, embedded: Target, tmp_path: Path, cache: Path):
    emit(replace(plan, faults=()), embedded, tmp_path / "out", cache)
    assert not list((tmp_path / "out/ansible/project").glob("*.yml"))
