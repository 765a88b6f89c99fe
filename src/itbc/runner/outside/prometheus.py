"""The two questions that the runner asks a cluster's monitoring: a query's samples, and which alerts are on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self

import httpx


class MonitoringUnreachable(Exception):  # noqa: N818 - the name is the fact
    """Prometheus or Alertmanager didn't answer, or not as they should."""


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that is pending or firing. `since` is when it began to fire, where that is known."""

    name: str
    labels: Mapping[str, str]
    state: Literal["pending", "firing"]
    since: datetime | None = None


def matches(alert: Alert, name: str, labels: Mapping[str, str]) -> bool:
    """Whether it is that alert, with at least these labels."""
    return alert.name == name and all(alert.labels.get(key) == value for key, value in labels.items())


def selector(name: str, labels: Mapping[str, str]) -> str:
    """An alert as Prometheus writes a series: `Name{label="value"}`."""
    inner = ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in sorted(labels.items()) if key != "alertname"
    )
    return f"{name}{{{inner}}}"


class Monitoring:
    """A cluster's Prometheus and Alertmanager, by their base URLs. Both are on this machine or a tunnel to it."""

    def __init__(self, prometheus: str, alertmanager: str) -> None:
        self._prometheus = prometheus.rstrip("/")
        self._alertmanager = alertmanager.rstrip("/")
        self._client = httpx.Client(timeout=10.0, trust_env=False)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        """Keep the connections open for a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self.close()

    def query(self, expression: str) -> list[float]:
        """The values of an instant query, one a series. Raises MonitoringUnreachable."""
        data = self._get(f"{self._prometheus}/api/v1/query", {"query": expression})["data"]
        if data["resultType"] in ("scalar", "string"):
            return [float(data["result"][1])]
        return [float(each["value"][1]) for each in data["result"]]

    def alerts(self) -> list[Alert]:
        """What Prometheus has pending and firing. Raises MonitoringUnreachable."""
        data = self._get(f"{self._prometheus}/api/v1/alerts", {})["data"]
        return [_alert(each["labels"], each["state"], None) for each in data["alerts"]]

    def delivered(self) -> list[Alert]:
        """What has reached Alertmanager and is active. Raises MonitoringUnreachable."""
        found = self._get(f"{self._alertmanager}/api/v2/alerts", {"active": "true"})
        return [_alert(each["labels"], "firing", datetime.fromisoformat(each["startsAt"])) for each in found]

    def _get(self, url: str, parameters: Mapping[str, str]) -> Any:
        try:
            answer = self._client.get(url, params=parameters)
        except httpx.HTTPError as wrong:
            raise MonitoringUnreachable(f"{url}: {wrong}") from wrong
        if answer.status_code != 200:
            raise MonitoringUnreachable(f"{url}: HTTP {answer.status_code}: {answer.text[:300]}")
        return answer.json()


def _alert(labels: Mapping[str, str], state: Literal["pending", "firing"], since: datetime | None) -> Alert:
    return Alert(labels.get("alertname", ""), labels, state, since)
