"""Why an object doesn't get ready, in the words of its pods and of the cluster's events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from itbc.providers.kubernetes.client import ApiError, Client
from itbc.providers.kubernetes.refs import Ref

_STARTING = frozenset({"ContainerCreating", "PodInitializing"})
_MOST = 5


def reasons(client: Client, ref: Ref, thing: Mapping[str, Any]) -> list[str]:
    """What hinders an object, the most telling first, at most a handful; empty where nothing is known."""
    namespace = ref.namespace or client.namespace
    found: list[str] = []
    pods = [thing] if ref.kind == "Pod" else _pods(client, thing, namespace)
    for words, count in Counter(problem for pod in pods for problem in pod_problems(pod)).most_common():
        found.append(words if count == 1 else f"{words} ({count} pods)")
    if thing.get("kind") in {"Namespace", "CustomResourceDefinition"}:
        found += _conditions(thing)
    else:
        found += [words for words in _warnings(client, ref, namespace) if words not in found]
    return found[:_MOST]


def pod_problems(pod: Mapping[str, Any]) -> list[str]:
    """What is wrong with a pod: that no node takes it, or what its containers wait for or died of."""
    status = pod.get("status", {})
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return [f"{condition.get('reason', 'Unschedulable')}: {condition.get('message', '')}"]
    every = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    telling = list(_container_problems(every))
    if not telling and status.get("phase") == "Running":
        telling = [f"container {c['name']}: running, but not ready" for c in every if not c.get("ready")]
    return telling


def _container_problems(statuses: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for container in statuses:
        name = container["name"]
        waiting = container.get("state", {}).get("waiting")
        ended = container.get("state", {}).get("terminated") or {}
        if waiting and waiting.get("reason") not in _STARTING:
            message = f": {waiting['message']}" if waiting.get("message") else ""
            last = container.get("lastState", {}).get("terminated")
            yield f"container {name}: {waiting.get('reason', 'waiting')}{message}{_death(last)}"
        elif ended.get("exitCode"):
            yield f"container {name}: ended{_death(ended)}"


def _death(ended: Mapping[str, Any] | None) -> str:
    if not ended:
        return ""
    message = f": {ended['message'].strip()}" if ended.get("message") else ""
    return f" (exit code {ended.get('exitCode')}, {ended.get('reason', 'no reason given')}{message})"


def _pods(client: Client, thing: Mapping[str, Any], namespace: str) -> Sequence[Mapping[str, Any]]:
    selector = thing.get("spec", {}).get("selector")
    if not isinstance(selector, Mapping) or not ("matchLabels" in selector or "matchExpressions" in selector):
        return ()
    found = client.list_objects("v1", "Pod", namespace, labels=label_selector(selector))
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def label_selector(selector: Mapping[str, Any]) -> str:
    """A selector of a workload (`matchLabels`, `matchExpressions`) in the form that goes into an address."""
    parts = [f"{name}={value}" for name, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression["key"], ",".join(expression.get("values") or ())
        forms = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        parts.append(forms[expression["operator"]])
    return ",".join(parts)


def _warnings(client: Client, ref: Ref, namespace: str) -> list[str]:
    """The newest warnings about the object and what it made, which bear its name and a suffix."""
    try:
        events = client.list_objects("v1", "Event", namespace, fields="type=Warning")
    except ApiError:  # no right to read events: then there is nothing to tell
        return []
    about = [e for e in events if _is_about(e.get("involvedObject", {}), ref)]
    about.sort(key=lambda e: e.get("lastTimestamp") or e.get("eventTime") or "", reverse=True)
    return list(dict.fromkeys(f"{e.get('reason', 'Warning')}: {e.get('message', '').strip()}" for e in about))


def _is_about(involved: Mapping[str, Any], ref: Ref) -> bool:
    name = str(involved.get("name", ""))
    return (involved.get("kind") == ref.kind and name == ref.name) or name.startswith(f"{ref.name}-")


def _conditions(thing: Mapping[str, Any]) -> list[str]:
    conditions = thing.get("status", {}).get("conditions") or ()
    return [c["message"] for c in conditions if c.get("message") and c.get("status") == "True"]
