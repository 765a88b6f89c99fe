from __future__ import annotations

from itbc.runner.outside.prometheus import selector


def test_alerts_are_written_as_prometheus_writes_series() -> None:
    labels = {"service": "frontend", "alertname": "HighRequestErrorRate", "path": '/a"b\\c'}
    assert selector("HighRequestErrorRate", labels) == (r'HighRequestErrorRate{path="/a\"b\\c", service="frontend"}')
    assert selector("Down", {"alertname": "Down"}) == "Down{}"
