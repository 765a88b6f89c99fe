"""The Ansible modules of the role `kubernetes_change`: what they write down and what they put back."""

from __future__ import annotations

import copy
import importlib.util
import json
import stat
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonpatch
import pytest
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, UnprocessibleEntityError

import itbc.stacks
from itbc.contracts import schemas
from itbc.contracts.shape import from_json
from itbc.contracts.undo import UndoRecord

LIBRARY = Path(itbc.stacks.__file__).parent / "ansible" / "roles" / "kubernetes_change" / "library"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, LIBRARY / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


undo_record = load("undo_record")
object_change = load("object_change")
object_restore = load("object_restore")
effect_wait = load("effect_wait")

Json = dict[str, Any]

FIELDS = [
    {"manager": "kube-controller-manager", "operation": "Update", "time": "2026-01-01T00:00:02Z"},
    {"manager": "deployer", "operation": "Apply", "time": "2026-01-01T00:00:01Z"},
    {"manager": "somebody", "operation": "Update", "time": "2026-01-01T00:00:09Z"},
    {"manager": "early", "operation": "Update", "subresource": "scale", "time": "2026-01-01T00:00:00Z"},
]
LIVE: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "checkout",
        "namespace": "shop",
        "uid": "u-1",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:01Z",
        "labels": {"app": "checkout"},
        "annotations": {"deployment.kubernetes.io/revision": "1", "team": "shop"},
        "managedFields": FIELDS,
    },
    "spec": {"replicas": 1, "template": {"env": "good {{ not_a_template }}"}},
    "status": {"replicas": 1},
}
CHANGE: Json = {"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "checkout", "patch": []}


def record() -> Json:
    made: Json = undo_record.record("wrong", "k8s.env.modified", "shop", [CHANGE], [[LIVE]])
    return made


def test_the_record_has_its_contracts_shape_and_the_whole_object(tmp_path: Path):
    path = tmp_path / "undo" / "wrong.json"
    undo_record.write(path, record())
    data = path.read_bytes()
    schemas.validate("undo", data)
    read = from_json(data, UndoRecord)
    assert (read.fault, read.kind, read.cluster) == ("wrong", "k8s.env.modified", "shop")
    assert read.objects[0].saved == LIVE


def test_the_record_is_its_owners_alone(tmp_path: Path):
    path = tmp_path / "undo" / "wrong.json"
    undo_record.write(path, record())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["wrong.json"]


def test_a_left_over_half_record_is_no_obstacle(tmp_path: Path):
    (tmp_path / "wrong.json.part").write_text("{")
    undo_record.write(tmp_path / "wrong.json", record())
    assert json.loads((tmp_path / "wrong.json").read_text()) == record()


def test_what_is_not_there_is_not_broken():
    with pytest.raises(ValueError, match="Deployment shop/checkout"):
        undo_record.record("wrong", "k8s.env.modified", "shop", [CHANGE], [[]])


def test_it_is_written_as_whoever_wrote_it_first():
    assert undo_record.first_manager(LIVE) == "deployer"
    assert undo_record.first_manager({"metadata": {}}) == "kubectl-edit"
    assert record()["objects"][0]["manager"] == "deployer"


POLICY: Json = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "checkout", "namespace": "shop", "labels": {}},
    "spec": {"podSelector": {}},
}
CREATION: Json = {
    "api_version": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "namespace": "shop",
    "name": "checkout",
    "created": POLICY,
}


def test_what_will_be_created_is_recorded_without_a_copy(tmp_path: Path):
    made = undo_record.record("cut", "k8s.netpol", "shop", [CREATION], [[]])
    undo_record.write(tmp_path / "cut.json", made)
    schemas.validate("undo", (tmp_path / "cut.json").read_bytes())
    (entry,) = made["objects"]
    assert (entry["kind"], entry["name"], entry["saved"]) == ("NetworkPolicy", "checkout", None)


def test_what_is_there_is_not_created():
    with pytest.raises(ValueError, match="there already: NetworkPolicy shop/checkout"):
        undo_record.record("cut", "k8s.netpol", "shop", [CREATION], [[POLICY]])


class Api:
    """A cluster of one object that keeps resource versions as the API server does."""

    def __init__(self, live: Json | None) -> None:
        self.live = copy.deepcopy(live)
        self.requests: list[str] = []
        self.conflicts = 0
        self.immutable = False

    def resource(self, kind: str, api_version: str) -> str:
        return f"{api_version}/{kind}"

    def get(self, _resource: str, *, name: str, namespace: str) -> Answer:
        assert (namespace, name) == ("shop", "checkout")
        if self.live is None:
            raise NotFoundError(Refused(404))
        return Answer(self.live)

    def create(self, resource: str, definition: Json, *, namespace: str, field_manager: str) -> None:
        by_hand = resource.endswith("NetworkPolicy")
        assert (namespace, field_manager) == ("shop", "kubectl-create" if by_hand else "deployer")
        self.requests.append("create")
        self._write(definition)

    def replace(self, _resource: str, definition: Json, **write: Any) -> Answer:
        assert write == {"name": "checkout", "namespace": "shop", "field_manager": "deployer"}
        self.requests.append("replace")
        if self.conflicts:
            self.conflicts -= 1
            raise ConflictError(Refused(409))
        if self.immutable:
            raise UnprocessibleEntityError(Refused(422))
        assert self.live is not None
        if (
            definition["spec"] != self.live["spec"]
            or definition["metadata"]["labels"] != self.live["metadata"]["labels"]
        ):
            self._write(definition)
        return Answer(self.live)

    def delete(self, _resource: str, *, name: str, namespace: str) -> None:
        assert (namespace, name) == ("shop", "checkout")
        self.requests.append("delete")
        self.live = None

    def patch(self, _resource: str, patch: list[Json], **write: Any) -> None:
        assert write["field_manager"] == "deployer"
        assert self.live is not None
        self.requests.append("patch")
        if patch[-1]["path"] == "/metadata/managedFields":
            self.live["metadata"]["managedFields"] = patch[-1]["value"]
        else:
            self._write(jsonpatch.apply_patch(self.live, patch))
            self.live["metadata"]["managedFields"] = [*FIELDS, {"manager": "deployer", "operation": "Update"}]

    def _write(self, definition: Json) -> None:
        version = int(self.live["metadata"]["resourceVersion"]) + 1 if self.live else 1
        self.live = copy.deepcopy(definition)
        self.live["metadata"]["resourceVersion"] = str(version)


class Answer:
    def __init__(self, value: Json) -> None:
        self.value = value
        self.metadata = Metadata(value["metadata"]["resourceVersion"])

    def to_dict(self) -> Json:
        return copy.deepcopy(self.value)


class Metadata:
    def __init__(self, version: str) -> None:
        self.resourceVersion = version


class Refused:
    """What the client's exceptions are made from."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.reason = "refused"
        self.body = "refused"
        self.headers: Json = {}


PATCH = [{"op": "replace", "path": "/spec/template/env", "value": "bad"}]


def change(api: Api) -> bool:
    made: bool = object_change.Cluster(api).change({**CHANGE, "patch": PATCH}, record()["objects"][0])
    return made


def test_a_change_leaves_the_field_managers_as_they_were():
    api = Api(LIVE)
    assert change(api) is True
    assert api.live is not None
    assert api.live["spec"]["template"]["env"] == "bad"
    assert api.live["metadata"]["managedFields"] == FIELDS


def test_a_change_that_was_made_before_is_not_made_again():
    api = Api(LIVE)
    change(api)
    asked = list(api.requests)
    assert change(api) is False
    assert api.requests == asked


def test_an_object_is_created_once_and_deleted_again():
    api = Api(None)
    (entry,) = undo_record.record("cut", "k8s.netpol", "shop", [CREATION], [[]])["objects"]
    assert object_change.Cluster(api).change(CREATION, entry) is True
    assert api.live is not None
    assert api.live["spec"] == POLICY["spec"]
    assert object_change.Cluster(api).change(CREATION, entry) is False
    assert object_restore.Cluster(api).restore(entry) is True
    assert api.live is None
    assert object_restore.Cluster(api).restore(entry) is False
    assert api.requests == ["create", "delete"]


def broken() -> Json:
    live = copy.deepcopy(LIVE)
    live["metadata"].update(resourceVersion="12", generation=2)
    live["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "2"
    live["metadata"]["managedFields"] = [*FIELDS, {"manager": "x"}]
    live["spec"]["template"]["env"] = "bad"
    return live


def restore(api: Api) -> bool:
    changed: bool = object_restore.Cluster(api).restore(record()["objects"][0])
    return changed


def test_a_changed_object_is_replaced_by_the_saved_copy():
    api = Api(broken())
    assert restore(api) is True
    assert api.live is not None
    assert api.live["spec"] == LIVE["spec"]
    assert api.live["metadata"]["labels"] == LIVE["metadata"]["labels"]
    assert api.live["metadata"]["managedFields"] == FIELDS
    assert api.requests == ["replace", "patch"]


def test_the_rollout_counter_counts_on():
    api = Api(broken())
    restore(api)
    assert api.live is not None
    assert api.live["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "2", "team": "shop"}


def test_what_is_as_it_was_stays_untouched():
    api = Api(broken())
    restore(api)
    assert restore(api) is False
    assert api.requests == ["replace", "patch", "replace"]


def test_a_deleted_object_is_created_anew():
    api = Api(None)
    assert restore(api) is True
    assert api.requests == ["create"]
    assert api.live is not None
    assert api.live["spec"] == LIVE["spec"]
    assert not {"uid", "creationTimestamp", "generation", "managedFields"} & set(api.live["metadata"])
    assert "status" not in api.live


def test_a_conflict_is_tried_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(object_restore, "POLL_SECONDS", 0.0)
    api = Api(broken())
    api.conflicts = 2
    assert restore(api) is True
    assert api.requests == ["replace", "replace", "replace", "patch"]


def test_what_can_not_be_replaced_is_made_anew(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(object_restore, "POLL_SECONDS", 0.0)
    api = Api(broken())
    api.immutable = True
    assert restore(api) is True
    assert api.requests == ["replace", "delete", "create"]


def test_an_object_that_is_never_gone_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(object_restore, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(object_restore, "DEADLINE_SECONDS", 0.0)
    live = broken()
    live["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    with pytest.raises(TimeoutError, match="Deployment shop/checkout is still being deleted"):
        restore(Api(live))


@pytest.mark.parametrize(
    ("revision", "ready", "going", "expected"),
    [
        ("old", "False", False, True),
        ("old", "True", False, False),
        ("new", "False", False, False),
        ("old", "False", True, False),
    ],
)
def test_pods_that_a_stateful_set_waits_for_in_vain(revision: str, ready: str, going: bool, expected: bool):  # noqa: FBT001
    metadata: Json = {"name": "store-0", "labels": {"controller-revision-hash": revision}}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    pod = {"metadata": metadata, "status": {"conditions": [{"type": "Ready", "status": ready}]}}
    assert object_restore.is_stuck(pod, "new") is expected


class Clock:
    """Time that only passes by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_waiting_ends_when_nothing_is_missing_or_the_time_is_up():
    clock = Clock()
    answers = iter([["rollout"], ["rollout"], []])
    assert effect_wait.wait(lambda: next(answers), 10.0, 0.0, clock, clock.sleep) == []
    assert clock.now == pytest.approx(2 * effect_wait.POLL_SECONDS)
    clock = Clock()
    assert effect_wait.wait(lambda: ["rollout"], 1.0, 0.0, clock, clock.sleep) == ["rollout"]
    assert 1.0 <= clock.now < 1.0 + 2 * effect_wait.POLL_SECONDS


def test_what_must_be_steady_is_watched_for_as_long_as_that():
    clock = Clock()
    answers = iter([[], [], ["ready after all"], *([[]] * 100)])
    assert effect_wait.wait(lambda: next(answers), 10.0, 2.0, clock, clock.sleep) == []
    assert clock.now >= 3 * effect_wait.POLL_SECONDS + 2.0
    clock = Clock()
    seen: list[list[str]] = []

    def flapping() -> list[str]:
        seen.append([] if len(seen) % 2 else ["ready after all"])
        return seen[-1]

    assert effect_wait.wait(flapping, 3.0, 1.0, clock, clock.sleep) == ["ready after all"]
