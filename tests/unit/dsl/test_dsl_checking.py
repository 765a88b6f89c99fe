from __future__ import annotations

import shutil
from pathlib import Path

import examples
import pytest

from itbc.cli import assembly
from itbc.dsl.checking import check, check_file
from itbc.dsl.diagnostics import Sink
from itbc.dsl.files import itb_files, scenario_files
from itbc.dsl.loading import read_text
from itbc.dsl.model import Scenario

CATALOGUE = assembly.catalogue()


def base() -> str:
    return (examples.SPEC / "base.itb").read_text(encoding="utf-8")


def checked(folder: Path, text: str) -> tuple[Scenario | None, list[str]]:
    """Check a scenario beside the test application; its model and its messages as `CODE message`."""
    if not (folder / "shop").exists():
        shutil.copytree(examples.SPEC / "shop", folder / "shop")
    (folder / "scenario.itb").write_text(text, encoding="utf-8")
    sink = Sink()
    scenario = check(folder / "scenario.itb", CATALOGUE, sink)
    return scenario, [f"{found.code.id} {found.labels[0].message}" for found in sink.diagnostics]


def model(folder: Path, *changes: tuple[str, str]) -> Scenario:
    text = base()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    scenario, messages = checked(folder, text)
    assert messages == []
    assert scenario is not None
    return scenario


def messages(folder: Path, *changes: tuple[str, str]) -> list[str]:
    text = base()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    scenario, found = checked(folder, text)
    assert scenario is None
    return found


def test_a_scenario_becomes_a_model(tmp_path: Path):
    scenario = model(tmp_path)
    assert scenario.name == "checkout-wrong-payment-address"
    cluster = scenario.environment.clusters[0]
    assert (cluster.name, cluster.nodes, sorted(cluster.telemetry.signals)) == ("shop", 1, ["alerts", "metrics"])
    assert [rule.name for rule in cluster.alerts] == ["HighRequestErrorRate", "PodNotReady"]
    fault = scenario.faults[0]
    assert (fault.request.target_kind, fault.request.target_name, fault.request.namespace) == (
        "Deployment",
        "checkout",
        "shop",
    )
    assert fault.request.parameters["value"] == "payment:9999"
    assert [(cause.ref.kind, cause.ref.name) for cause in scenario.truth.root_causes] == [("Deployment", "checkout")]
    objective = scenario.desired.objectives[0]
    assert (objective.hold_seconds, objective.settle_seconds, objective.slo.comparison, objective.slo.bound) == (
        60,
        60,
        "<",
        0.01,
    )
    assert {(one.namespace, one.kind) for one in scenario.desired.safeguards[0].unchanged} == {
        ("shop", "Deployment"),
        ("shop", "Service"),
    }
    assert scenario.grants[0].api_groups == ("", "apps")
    assert scenario.triggers[0].within_seconds == 180


MUTANT = """
  mutant "half" {
    why = "The host is wrong still."
    step "one" { command = ["kubectl", "get", "pods"] }
    step "two" { command = ["kubectl", "get", "events"] }
  }
"""


def test_mutants_have_steps_and_a_reason(tmp_path: Path):
    scenario = model(tmp_path, ("  solution {", f"{MUTANT}  solution {{"))
    (mutant,) = scenario.mutants
    assert (mutant.name, mutant.why) == ("half", "The host is wrong still.")
    assert [step.command[-1] for step in mutant.steps] == ["pods", "events"]
    assert [step.cluster for step in mutant.steps] == ["shop", "shop"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('    why = "The host is wrong still."\n', "", "ITB203 `mutant` needs `why`"),
        ('step "two"', 'step "one"', "ITB404 there is already a step of this name"),
        ('["kubectl", "get", "pods"]', '["kubectl", 1]', "ITB301 this is a number; needed is a string"),
    ],
)
def test_mutants_are_checked_as_solutions_are(tmp_path: Path, old: str, new: str, found: str):
    assert old in MUTANT
    assert messages(tmp_path, ("  solution {", f"{MUTANT.replace(old, new)}  solution {{")) == [found]


def test_two_mutants_of_a_name_are_one_too_many(tmp_path: Path):
    found = messages(tmp_path, ("  solution {", f"{MUTANT}{MUTANT}  solution {{"))
    assert found == ["ITB404 there is already a mutant of this name"]


def test_the_load_is_written_into_the_manifest_and_nowhere_else(tmp_path: Path):
    application = model(tmp_path).environment.clusters[0].applications[0]
    variables = {
        declared.ref.name: container.get("env", [])
        for declared in application.objects
        if declared.ref.kind == "Deployment"
        for container in declared.manifest["spec"]["template"]["spec"]["containers"]
    }
    assert variables["load"] == [{"name": "USERS", "value": "20"}]
    assert variables["checkout"] == [{"name": "PAYMENT_ADDR", "value": "http://payment:8080"}]


def test_without_load_the_manifest_stays_as_it_is(tmp_path: Path):
    application = model(tmp_path, ("        load = { users = 20 }\n", "")).environment.clusters[0].applications[0]
    load = next(declared for declared in application.objects if declared.ref.name == "load")
    assert load.manifest["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "USERS", "value": "5"}]


def test_every_object_has_its_namespace_and_its_place(tmp_path: Path):
    objects = model(tmp_path).environment.clusters[0].applications[0].objects
    assert {declared.manifest["metadata"]["namespace"] for declared in objects} == {"shop"}
    first = objects[0].span.origin
    assert (first.file, first.line, first.column) == ("shop/manifests/shop.yaml", 1, 1)


def test_places_are_relative_to_the_scenario_and_messages_to_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(examples.SPEC / "shop", tmp_path / "shop")
    (tmp_path / "deep").mkdir()
    text = (
        base().replace('"shop/shop.itb"', '"../shop/shop.itb"').replace("deployment.checkout\n", "deployment.nothing\n")
    )
    (tmp_path / "deep" / "s.itb").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    sink = Sink()
    assert check(Path("deep/s.itb"), CATALOGUE, sink) is None
    assert [found.span.source.name for found in sink.diagnostics] == ["deep/s.itb"]
    assert [found.span.origin.file for found in sink.diagnostics] == ["s.itb"]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ([("users = 20", "users = true")], []),
        ([('within = "3m"', 'within = "3m"\n      cluster = cluster.shop')], []),
        ([('    chain       = ["checkout", "frontend"]\n', "")], ["ITB709 the truth has no `chain`"]),
        (
            [('labels = { service = "frontend" }', 'labels = { service = "catalogue" }')],
            ["ITB705 no expected alert has the label `service` = `frontend`"],
        ),
        ([("cluster.shop.deployment, ", "cluster.shp.deployment, ")], ["ITB405 there is no cluster `shp`"]),
        ([("[cluster.shop.deployment,", "[cluster.shop.deploy,")], ["ITB405 there is no kind `deploy`"]),
        ([("[cluster.shop.deployment,", "[cluster.shop.deployments,")], ["ITB405 there is no kind `deployments`"]),
        (
            [("cluster.shop.deployment, ", "cluster.shop.deployment.checkout, ")],
            ["ITB301 this reference is of another form"],
        ),
        ([("persona = sre", "persona = finops")], []),
        ([('"patch"]', '"patch", "patsh"]')], ["ITB305 `patsh` isn't a verb of Kubernetes RBAC"]),
        ([('"deployments", ', '"widgets", ')], ["ITB711 the Kubernetes API has no resource `widgets`"]),
        ([('resources = ["deployments", ', 'api_groups = ["example.com"]\n    resources = ["widgets", ')], []),
        ([('    resources = ["deployments", "services"]\n', "")], ["ITB203 a grant in a cluster needs `resources`"]),
        ([('      hold = "60s"\n', "")], ["ITB203 an objective with `slo` needs `hold`"]),
        (
            [('hold = "60s"', 'hold = "60s"\n      at_most = 3')],
            [
                "ITB202 an objective with `slo` has no attribute `at_most`",
                "ITB801 what `at_most` means in `objective` isn't checked yet",
            ],
        ),
        ([('alert "HighRequestErrorRate" {', 'alert "NoSuchAlert" {')], ["ITB706 there is no alert `NoSuchAlert`"]),
        (
            [('      application "shop" {', '      application "shop" {}\n      application "shop" {')],
            ["ITB404 there is already an application of this name"],
        ),
        (
            [
                (
                    '      application "shop" {',
                    '      telemetry {\n        alerts = [alert.PodNotReady]\n      }\n      application "shop" {',
                )
            ],
            ["ITB706 cluster `shop` doesn't load this rule"],
        ),
        ([("target   = cluster.shop", "target   = cluster.shop.x")], ["ITB301 this reference is of another form"]),
        ([("metadata {", "metadata {\n    persona = sre")], ["ITB205 `persona` again"]),
        (
            [('fault "wrong-address" {', 'fault "wrong-address" {\n    probability = 0.5')],
            ["ITB603 `k8s.env.modified` has no parameter `probability`"],
        ),
        ([('value    = "payment:9999"', "value    = 9999")], ["ITB301 this is a number; needed is a string"]),
        (
            [('["kubectl", "set", "env", "deployment/checkout", "PAYMENT_ADDR=http://payment:8080"]', "[]")],
            ["ITB304 this list is too short"],
        ),
        (
            [('import { source = "shop/shop.itb" }\n', "")],
            [
                "ITB405 there is no application `shop`",
                "ITB706 there is no alert `HighRequestErrorRate`",
                "ITB405 there is no slo `frontend_errors_below_1_percent`",
            ],
        ),
    ],
    ids=lambda value: value[0][1][:40] if value and isinstance(value[0], tuple) else None,
)
def test_each_mistake_is_told_once(tmp_path: Path, changes: list[tuple[str, str]], found: list[str]):
    text = base()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    scenario, said = checked(tmp_path, text)
    assert said == found
    assert (scenario is None) == bool(found)


def test_fixes_mend_what_they_say(tmp_path: Path):
    text = (
        base()
        .replace("deployment.checkout\n", "deployment.chekout\n")
        .replace('"3m"', '"3min"')
        .replace('"deployments"', '"deployment"')
    )
    checked(tmp_path, text)
    sink = Sink()
    check(tmp_path / "scenario.itb", CATALOGUE, sink)
    edits = [edit for found in sink.diagnostics if found.fix for edit in found.fix.edits]
    assert len(edits) == 3
    for edit in sorted(edits, key=lambda each: -each.span.start):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    assert text == base()


def test_a_damaged_scenario_says_nothing_about_what_was_lost(tmp_path: Path):
    assert messages(tmp_path, ("  trigger {", "  trigger 1 {")) == [
        "ITB101 expected a label in quotes, `=` or `{`, found `1`"
    ]
    assert messages(tmp_path, ('cluster "shop" {', 'cluster "shop {')) == ['ITB102 this string has no closing `"`']


def test_files_can_come_from_elsewhere(tmp_path: Path):
    text = base().replace('"shop/shop.itb"', '"elsewhere.itb"')
    shutil.copytree(examples.SPEC / "shop", tmp_path / "shop")
    library = (
        (tmp_path / "shop" / "shop.itb").read_text(encoding="utf-8").replace('["manifests"]', '["shop/manifests"]')
    )
    library = library.replace('"service"\n', '"shop/service"\n')
    held = {tmp_path / "s.itb": text, tmp_path / "elsewhere.itb": library}

    def read(path: Path) -> str:
        return held[path] if path in held else read_text(path)

    sink = Sink()
    scenario = check(tmp_path / "s.itb", CATALOGUE, sink, read)
    assert [found.labels[0].message for found in sink.diagnostics] == []
    assert scenario is not None


def test_one_library_imported_by_several_ways_is_read_once(tmp_path: Path):
    text = base().replace(
        'import { source = "shop/shop.itb" }', 'import { source = "a.itb" }\nimport { source = "shop/shop.itb" }'
    )
    (tmp_path / "a.itb").write_text('import { source = "./shop/../shop/shop.itb" }\n', encoding="utf-8")
    scenario, said = checked(tmp_path, text)
    assert said == []
    assert scenario is not None


def test_errors_of_a_library_are_told_once_and_count_for_every_scenario(tmp_path: Path):
    shutil.copytree(examples.SPEC / "shop", tmp_path / "shop")
    library = tmp_path / "shop" / "shop.itb"
    library.write_text(library.read_text(encoding="utf-8").replace('"5s"', '"5sec"'), encoding="utf-8")
    for name in ("a.itb", "b.itb"):
        (tmp_path / name).write_text(base(), encoding="utf-8")
    sink = Sink()
    results = [check_file(path, CATALOGUE, sink) for path in itb_files([tmp_path], sink)]
    assert [found.code.id for found in sink.diagnostics] == ["ITB302"]
    assert [result.errors for result in results] == [1, 1, 1]
    assert all(result.scenario is None for result in results)


def test_a_library_is_no_scenario(tmp_path: Path):
    scenario, said = checked(tmp_path, "# nothing\n")
    assert scenario is None
    assert said == ["ITB006 this file declares no scenario"]


def test_finding_files(tmp_path: Path):
    for name in ("b/x.itb", "a.itb", ".hidden/y.itb", "b/z.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# nothing\n", encoding="utf-8")
    sink = Sink()
    found = itb_files([tmp_path / "a.itb", tmp_path], sink)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["a.itb", "b/x.itb"]
    assert itb_files([tmp_path / "a\0b"], sink) == []
    assert [each.code.id for each in sink.diagnostics] == ["ITB001"]


def test_finding_scenarios(tmp_path: Path):
    (tmp_path / "library.itb").write_text("# nothing\n", encoding="utf-8")
    sink = Sink()
    assert scenario_files(tmp_path, sink) == []
    assert [each.code.id for each in sink.diagnostics] == ["ITB006"]
    (tmp_path / "s.itb").write_text(base(), encoding="utf-8")
    assert scenario_files(tmp_path, Sink()) == [tmp_path / "s.itb"]


def test_links_are_not_followed_when_paths_are_resolved(tmp_path: Path):
    (tmp_path / "real").mkdir()
    shutil.copytree(examples.SPEC / "shop", tmp_path / "real" / "shop")
    (tmp_path / "real" / "s.itb").write_text(base(), encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    sink = Sink()
    assert check(tmp_path / "link" / "s.itb", CATALOGUE, sink) is not None
