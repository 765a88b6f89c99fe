from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from itbc.providers import embedded
from itbc.providers.embedded import kernel
from itbc.providers.services import Finding

VETH = kernel.Feature("links", "VETH", "veth")
MASQUERADE = kernel.Feature("masquerading", "NFT_MASQ", "nft_masq")


def machine(root: Path, configuration: str | None = None, modules: str | None = None) -> kernel.Kernel:
    (root / "proc").mkdir()
    if configuration is not None:
        (root / "proc/config.gz").write_bytes(gzip.compress(configuration.encode()))
    if modules is not None:
        folder = root / "lib/modules" / os.uname().release
        folder.mkdir(parents=True)
        (folder / "modules.dep").write_text(modules)
    return kernel.inspect(root)


def test_a_feature_that_is_built_in(tmp_path: Path) -> None:
    assert machine(tmp_path, "CONFIG_VETH=y\n").has(VETH) == "yes"


def test_a_feature_that_is_left_out(tmp_path: Path) -> None:
    here = machine(tmp_path, "CONFIG_VETH=y\n# CONFIG_NFT_MASQ is not set\n")
    assert here.has(MASQUERADE) == "no"


def test_a_feature_in_a_module(tmp_path: Path) -> None:
    here = machine(tmp_path, "CONFIG_VETH=m\nCONFIG_NFT_MASQ=m\n", "kernel/drivers/net/veth.ko.xz: kernel/x.ko\n")
    assert here.has(VETH) == "yes"
    assert here.has(MASQUERADE) == "no", "configured as a module that isn't installed"


def test_names_of_modules_may_have_hyphens(tmp_path: Path) -> None:
    assert machine(tmp_path, modules="kernel/net/nft-masq.ko:\n").has(MASQUERADE) == "yes"


def test_what_cannot_be_known_is_not_claimed(tmp_path: Path) -> None:
    assert machine(tmp_path).has(VETH) == "unknown"


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "ITBC_HOME": str(folder / "h"), "ITBC_CACHE": str(folder / "c"), **more}


def found(findings: list[Finding], name: str) -> Finding:
    (one,) = [each for each in findings if each.name == name]
    return one


def test_without_root_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    one = found(embedded.preflight(environment(tmp_path)), "root")
    assert one.level == "missing"
    assert "as root" in one.remedy


def test_what_only_some_faults_need_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = [f"CONFIG_{feature.option}=y" for feature in kernel.FEATURES]
    here = machine(tmp_path, "\n".join([*needed, "CONFIG_NFT_COMPAT=y"]))
    monkeypatch.setattr(kernel, "inspect", lambda: here)
    findings = {each.name: each for each in embedded.preflight(environment(tmp_path))}
    assert findings["kernel"].level == "ok"
    assert findings["CONFIG_NETFILTER_XT_TARGET_NFQUEUE"].level == "warning"
    assert "CONFIG_NFT_COMPAT" not in findings


def test_whatever_is_amiss_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itbc.providers.embedded.tools.find", lambda _program: None)
    monkeypatch.setattr("itbc.providers.embedded.network.routes", list)
    findings = embedded.preflight(environment(tmp_path))
    missing = [each for each in findings if each.level == "missing"]
    assert {"containerd", "runc", "nftables", "prometheus", "util-linux"} <= {each.name for each in missing}
    assert all(each.remedy for each in missing)
    assert found(findings, "runc").remedy == "apt-get install --no-install-recommends runc"


def test_a_range_that_is_in_use_is_found_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("itbc.providers.embedded.network.routes", lambda: [{"dst": "10.200.0.0/24", "dev": "wg0"}])
    one = found(embedded.preflight(environment(tmp_path)), "addresses")
    assert one.level == "missing"
    assert "10.200.0.0/24 dev wg0" in one.detail
    monkeypatch.setattr("itbc.providers.embedded.network.routes", list)
    wrong = found(embedded.preflight(environment(tmp_path, ITBC_EMBEDDED_RANGE="x")), "addresses")
    assert wrong.level == "missing"


def test_a_program_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itbc.providers.embedded.network.routes", list)
    one = found(embedded.preflight(environment(tmp_path, ITBC_NODE_PROGRAM="/bin/true")), "Kubernetes program")
    assert one.level == "missing"
    assert "ITBC_NODE_PROGRAM" in one.remedy


def test_a_program_that_is_not_built_yet_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itbc.providers.embedded.network.routes", list)
    name = "Kubernetes program"
    assert found(embedded.preflight(environment(tmp_path)), name).level == "warning"
    of_other_sources = tmp_path / "c/node/key/node"
    of_other_sources.parent.mkdir(parents=True)
    of_other_sources.touch()
    assert found(embedded.preflight(environment(tmp_path)), name).level == "warning"
    monkeypatch.setattr(
        "itbc.providers.embedded.inspection.node_program_is_built", lambda cache: cache == tmp_path / "c"
    )
    assert found(embedded.preflight(environment(tmp_path)), name).level == "ok"
