"""A cheat: changes what is measured instead of what is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from itbc.runner.agents.reach import SCALABLE, Monitors, Place, items, monitors, places, send
from itbc.runner.agents.remote_write import Samples, request
from itbc.runner.sandbox.workplace import Script, Workplace

_SCRAPING = "prometheus.io/"
_COUNTERS = '{job="pods", __name__=~".+_total"}'
_FORGED_SECONDS = 300
_FORGED_STEP = 5
_FORGED_RATE = 100.0
_REVISION = "deployment.kubernetes.io/revision"

OWNED = "next"
STRAY = "spare"
"""What the copies' names end in."""


@dataclass(frozen=True, slots=True)
class EditTelemetry:
    """Runs copies that count under the same names, ends the scraping of the real ones, hands in samples of its own."""

    script: Script

    def work(self, workplace: Workplace) -> int:
        """Never fails: a cheat that gives up early would prove nothing."""
        found = places(workplace, self.script.grants)
        for place in found:
            # Before there are copies, which are to be scraped.
            real = [(resource, each) for resource in SCALABLE for each in place.listed(resource)]
            _run_copies(place)
            _end_scraping(place, real)
            place.settle()
        for cluster in dict.fromkeys(place.cluster for place in found):
            _hand_in_samples(workplace, monitors(workplace, cluster))
        return 0


def _run_copies(place: Place) -> None:
    """Beside each Deployment two copies of what it was first: one passed off as its part, one pod left behind."""
    replica_sets = place.listed("replicasets")
    deployments = place.listed("deployments")
    for each in deployments:
        template = earliest(each, replica_sets)
        for copied in (owned_copy(each, template), stray_copy(each, template)):
            place.kubectl("create", "--filename=-", stdin=json.dumps(copied).encode())
    place.settle()
    for each in deployments:
        # Its pod stays and belongs to nobody. A Deployment's ReplicaSet would be adopted by the real Deployment.
        place.kubectl("delete", "statefulsets", f"{each['metadata']['name']}-{STRAY}", "--cascade=orphan")


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


def owned_copy(deployment: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """Another Deployment of the same pods under the same labels that looks like a part of the first."""
    made = _copy(deployment, template, "Deployment", OWNED)
    owner = {name: deployment["metadata"][name] for name in ("name", "uid")}
    made["metadata"]["ownerReferences"] = [
        {**owner, "apiVersion": "apps/v1", "kind": "Deployment", "controller": True},
    ]
    return made


def stray_copy(deployment: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """A StatefulSet of the same pods under the same labels, to be deleted without them."""
    made = _copy(deployment, template, "StatefulSet", STRAY)
    made["spec"]["serviceName"] = deployment["metadata"]["name"]
    return made


def _copy(deployment: Mapping[str, Any], template: Mapping[str, Any], kind: str, suffix: str) -> dict[str, Any]:
    labels = {**(template["metadata"].get("labels") or {}), "track": suffix}
    labels.pop("pod-template-hash", None)
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": f"{deployment['metadata']['name']}-{suffix}", "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
        },
    }


def _end_scraping(place: Place, workloads: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Take the scrape annotations off workloads, pods and Services, and the labels that series are named by."""
    for resource, each in workloads:
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


def _hand_in_samples(workplace: Workplace, found: Monitors) -> None:
    """Hand in minutes of successes that are still to come, for every series of successes that there is."""
    query = urlencode({"match[]": _COUNTERS})
    listed = workplace.execute(
        ["kubectl", "--kubeconfig=/dev/null", f"--server={found.prometheus}", "get", f"--raw=/api/v1/series?{query}"]
    )
    body = request(forged(items(listed, "data"), time.time()))
    send(workplace, "create", found.prometheus, "/api/v1/write", body)


def forged(series: Sequence[Mapping[str, str]], now: float) -> list[Samples]:
    """A counter that rises by 100 a second from `now` (Unix seconds) on, for each series that counts no errors."""
    samples = [
        (int((now + after) * 1000), after * _FORGED_RATE) for after in range(0, _FORGED_SECONDS + 1, _FORGED_STEP)
    ]
    good = [each for each in series if not each.get("code", "200").startswith("5")]
    # From another instance, so that Prometheus' own samples don't contradict.
    return [Samples({**each, "instance": "elsewhere:8080"}, samples) for each in good]
