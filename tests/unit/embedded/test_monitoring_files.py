from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from itbc.providers.embedded import monitoring, monitoringfiles
from itbc.providers.embedded.errors import EmbeddedError


def configuration() -> dict[str, Any]:
    return monitoringfiles.prometheus("10.200.0.2", "shop-1")


def job(name: str) -> dict[str, Any]:
    return next(each for each in configuration()["scrape_configs"] if each["job_name"] == name)


def test_the_jobs_and_how_often() -> None:
    assert configuration()["global"]["scrape_interval"] == "1s"
    assert configuration()["global"]["evaluation_interval"] == "1s"
    assert "scrape_interval" not in job("pods")
    assert "scrape_interval" not in job("kube-state-metrics")
    assert job("kubelet")["scrape_interval"] == job("apiserver")["scrape_interval"] == "5s"


def test_object_state_keeps_its_own_labels() -> None:
    assert job("kube-state-metrics")["honor_labels"] is True


def test_pods_get_the_labels_that_rules_use() -> None:
    labels = {rule.get("target_label") for rule in job("pods")["relabel_configs"]}
    assert {"namespace", "pod", "service", "__address__", "__metrics_path__"} <= labels


def test_nobody_scrapes_with_an_administrators_rights() -> None:
    rules = [rule for _, body in monitoringfiles.rights() if body["kind"] == "ClusterRole" for rule in body["rules"]]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}
    named = {resource for rule in rules for resource in rule.get("resources", [])}
    assert "secrets" not in named
    assert "*" not in named
    subjects = [s for _, body in monitoringfiles.rights() if "subjects" in body for s in body["subjects"]]
    assert {subject["name"] for subject in subjects} == {"prometheus", "kube-state-metrics"}


def test_alerts_go_out_at_once_and_one_by_one() -> None:
    route = monitoringfiles.alertmanager()["route"]
    assert route["group_wait"] == "0s"
    assert route["group_by"] == ["..."]


def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "prometheus.yml"
    text = json.dumps(configuration())
    for path in (monitoringfiles.RULES, monitoringfiles.TARGETS, "/etc/kubernetes/pki"):
        text = text.replace(path, str(tmp_path / Path(path).name))
    file.write_text(text)
    (tmp_path / "rules.yml").write_text("groups: []\n")
    (tmp_path / "pods.json").write_text("[]\n")
    done = subprocess.run(
        ("promtool", "check", "config", "--syntax-only", file), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_rules_are_refused_in_prometheus_own_words(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yml", tmp_path / "bad.yml"
    good.write_text("groups: [{name: g, rules: [{alert: A, expr: up == 0}]}]\n")
    bad.write_text("groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]\n")
    monitoring.check_rules(good)
    with pytest.raises(EmbeddedError, match="unexpected end of input"):
        monitoring.check_rules(bad)


def test_missing_rules_are_said(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match="doesn't exist"):
        monitoring.check_rules(tmp_path / "none.yml")
