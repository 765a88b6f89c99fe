"""The packet filter inside a node host: who may begin a conversation with whom.

Nothing does with this machine or with what lies behind it, and no pod with
what observes the cluster: what is hidden from an agent must not be found from a pod of its making.
"""

from __future__ import annotations

from ipaddress import IPv4Address

from itbc.providers.embedded.monitoringfiles import ALERTMANAGER_PORT, OBJECT_METRICS_PORT, PROMETHEUS_PORT
from itbc.providers.embedded.spec import POD_RANGE, SERVICE_RANGE
from itbc.providers.embedded.telemetry import logs, traces, view

CLOSED = (
    OBJECT_METRICS_PORT,
    PROMETHEUS_PORT,
    ALERTMANAGER_PORT,
    view.PROMETHEUS_PORT,
    view.ALERTMANAGER_PORT,
    logs.QUERY_PORT,
    traces.HEALTH_PORT,
    traces.QUERY_PORT,
)
"""The node's ports that pods don't get at."""


def ruleset(node: IPv4Address) -> str:
    """The nft commands, for a node of this address; the family inet covers IPv6 too.

    Answers to conversations that came in over eth0 pass. A packet to a Service
    leaves the output hook still bound for eth0, since its destination is
    rewritten there: hence the exceptions.
    """
    closed = ", ".join(str(port) for port in sorted(CLOSED))
    return f"""table inet guard {{
  chain arriving {{
    type filter hook input priority -10; policy accept;
    ip saddr {POD_RANGE} tcp dport {{ {closed} }} reject with tcp reset
  }}
  chain outgoing {{
    type filter hook output priority -10; policy accept;
    oifname "eth0" ip daddr {{ {SERVICE_RANGE}, {POD_RANGE}, {node} }} accept
    oifname "eth0" ct state new,invalid,untracked reject
  }}
  chain passing {{
    type filter hook forward priority -10; policy accept;
    oifname "eth0" ct state new,invalid,untracked reject
  }}
}}
"""
