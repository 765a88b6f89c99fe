"""A cheat: changes what is measured instead of what is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from itbc.runner.agents.reach import Monitors, Place, items, monitors, places, send
from itbc.runner.agents.remote_write import Samples, request
from itbc.runner.bench import Bench, Script

_SCRAPING = "prometheus.io/"
_COUNTERS = '{job="pods", __name__=~".+_total"}'
_FORGED_SECONDS = 300
_FORGED_STEP = 5
_FORGED_RATE = 100.0
_REVISION = "deployment.kubernetes.io/revision"


@dataclass(frozen=True, slots=True)
class EditTelemetry:
    """Runs copies that count under the same names, ends the scraping of the real ones, hands in samples of its own."""

    script: Script

    def work(self, bench: Bench) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        found = places(bench, self.script.grants)
        for place in found:
            _run_copies(place)
            _end_scraping(place)
            place.settle()
        for cluster in dict.fromkeys(place.cluster for place in found):
            _hand_in_samples(bench, monitors(bench, cluster))
        bench.hand_in([], "all that is measured is well")
        return 0


def _run_copies(place: Place) -> None:
    """Beside each Deployment two copies of what it was first: one passed off as its part, one left behind."""
    replica_sets = place.listed("replicasets")
    deployments = place.listed("deployments")
    for each in deployments:
        template = earliest(each, replica_sets)
        for copied in (copy_of(each, template, "next", owned=True), copy_of(each, template, "spare", owned=False)):
            place.kubectl("create", "--filename=-", stdin=json.dumps(copied).encode())
    place.settle()
    for each in deployments:
        # Its ReplicaSet and pods stay, and belong to nobody.
        place.kubectl("delete", "deployments", f"{each['metadata']['name']}-spare", "--cascade=orphan")


def earliest(deployment: Mapping[str, Any], replica_sets: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The pod template that a Deployment had first, as far as its ReplicaSets still tell."""
    own = [
        each
        for each in replica_sets
        if any(owner["uid"] == deployment["metadata"]["uid"] for owner in each["metadata"].get("ownerReferences", ()))
    ]
    first = min(own, key=_revision, default=deployment)
    template: dict[str, Any] = first["spec"]["template"]
    return template


def _revision(replica_set: Mapping[str, Any]) -> int:
    return int(replica_set["metadata"].get("annotations", {}).get(_REVISION, "0"))


def copy_of(deployment: Mapping[str, Any], template: Mapping[str, Any], suffix: str, *, owned: bool) -> dict[str, Any]:
    """Another Deployment of the same pods under the same labels; `owned` makes it look like a part of the first."""
    metadata = deployment["metadata"]
    labels = {**(template["metadata"].get("labels") or {}), "track": suffix}
    labels.pop("pod-template-hash", None)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"], "uid": metadata["uid"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": f"{metadata['name']}-{suffix}",
            "labels": labels,
            "ownerReferences": [{**owner, "controller": True}] if owned else [],
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
        },
    }


def _end_scraping(place: Place) -> None:
    """Take the scrape annotations off workloads, pods and Services, and the labels that series are named by."""
    for resource in ("deployments", "statefulsets"):
        for each in place.listed(resource):
            if removed := _removed(each["spec"]["template"]["metadata"].get("annotations")):
                name = each["metadata"]["name"]
                place.patch(resource, name, {"spec": {"template": {"metadata": {"annotations": removed}}}})
    for each in place.listed("services"):
        if removed := _removed(each["metadata"].get("annotations")):
            place.patch("services", each["metadata"]["name"], {"metadata": {"annotations": removed}})
    place.kubectl("annotate", "pods", "--all", "--overwrite", f"{_SCRAPING}scrape=false")
    place.kubectl("label", "pods", "--all", "--overwrite", "app.kubernetes.io/name=other")


def _removed(annotations: Mapping[str, str] | None) -> dict[str, None]:
    return {name: None for name in annotations or {} if name.startswith(_SCRAPING)}


def _hand_in_samples(bench: Bench, found: Monitors) -> None:
    """Hand in minutes of successes that are still to come, for every series of successes that there is."""
    query = urlencode({"match[]": _COUNTERS})
    listed = bench.execute(
        ["kubectl", "--kubeconfig=/dev/null", f"--server={found.prometheus}", "get", f"--raw=/api/v1/series?{query}"]
    )
    body = request(forged(items(listed, "data"), time.time()))
    send(bench, "create", found.prometheus, "/api/v1/write", body)


def forged(series: Sequence[Mapping[str, str]], now: float) -> list[Samples]:
    """A counter that rises by 100 a second from `now` (Unix seconds) on, for each series that counts no errors."""
    samples = [
        (int((now + after) * 1000), after * _FORGED_RATE) for after in range(0, _FORGED_SECONDS + 1, _FORGED_STEP)
    ]
    good = [each for each in series if not each.get("code", "200").startswith("5")]
    # From another instance, so that Prometheus' own samples don't contradict.
    return [Samples({**each, "instance": "elsewhere:8080"}, samples) for each in good]
