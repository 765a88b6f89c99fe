"""The packet filter inside a node host: nothing begins a conversation with this machine or with what lies behind it."""

from __future__ import annotations

from ipaddress import IPv4Address

from itbc.providers.embedded.spec import POD_RANGE, SERVICE_RANGE


def ruleset(node: IPv4Address) -> str:
    """The nft commands. Answers to conversations that came in over eth0 pass; the family inet covers IPv6 too.

    A packet to a Service leaves the output hook still bound for eth0, since
    its destination is rewritten there: hence the exceptions.
    """
    return f"""table inet guard {{
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
