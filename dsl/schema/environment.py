"""E: what stands. Clusters, hosts, what runs on them and which signals are collected."""

from __future__ import annotations

from itbc.dsl.schema.definitions import COMPONENT
from itbc.dsl.schema.types import (
    AttributeSchema,
    BlockSchema,
    BooleanType,
    Either,
    LabelSchema,
    ListOf,
    MapOf,
    Nested,
    NumberType,
    Quantity,
    ReferenceType,
    Text,
)
from itbc.dsl.schema.words import OPERATING_SYSTEM, PACKAGE_STATE, SERVICE_STATE

TELEMETRY = BlockSchema(
    "telemetry",
    "Which signals are collected, and so what the agent can look at.",
    attributes=(
        AttributeSchema(
            "metrics",
            BooleanType(),
            "Prometheus scrapes the nodes, the objects' state and the applications.",
            default="true",
        ),
        AttributeSchema(
            "alerts",
            ListOf(ReferenceType(("alert.ALERT",)), minimum=0),
            "The alerting rules that are loaded.",
            default="every alert that is declared or imported",
        ),
        AttributeSchema("traces", BooleanType(), "Traces are collected.", default="false"),
        AttributeSchema("logs", BooleanType(), "Logs are collected.", default="false"),
        AttributeSchema(
            "masks",
            ListOf(Text("word"), minimum=0),
            "What the agent can't see of it: `alerts`, `events`, `logs`, `metrics`, `topology` or `traces`, and with "
            "`:COMPONENT` behind it only one component's logs, metrics or traces.",
            default="[]",
        ),
    ),
)

BIND = BlockSchema(
    "bind",
    "Provides a dependency of the application: a Service of that name leads to an endpoint of a host.",
    labels=(LabelSchema("DEPENDENCY", "name", "The dependency."),),
    attributes=(
        AttributeSchema("endpoint", ReferenceType(("host.HOST.endpoint.ENDPOINT",)), "Where it leads.", required=True),
    ),
    checked=False,
)

DEPLOYED = BlockSchema(
    "application",
    "Deploys a declared application into the cluster.",
    labels=(LabelSchema("APPLICATION", "name", "A declared application."),),
    attributes=(
        AttributeSchema(
            "load",
            MapOf(Either((NumberType(), Text(), BooleanType()))),
            "Values for the settings of the application's `load` block.",
            default="as in its manifests",
        ),
    ),
    blocks=(Nested(BIND),),
)

CLUSTER = BlockSchema(
    "cluster",
    "A Kubernetes cluster of its own. Where it runs is the target's business, chosen when the scenario is compiled.",
    labels=(LabelSchema("NAME", "name", "What the rest of the scenario calls it."),),
    attributes=(
        AttributeSchema(
            "nodes", NumberType(integer=True, minimum=1, maximum=100), "How many nodes it has.", default="1"
        ),
        AttributeSchema("prices", ReferenceType(("price_sheet.SHEET",)), "What its resources cost.", checked=False),
    ),
    blocks=(Nested(DEPLOYED, 1), Nested(TELEMETRY, 0, 1)),
)

PACKAGE = BlockSchema(
    "package",
    "A package of the operating system.",
    labels=(LabelSchema("NAME", "word", "The package's name."),),
    attributes=(
        AttributeSchema("state", PACKAGE_STATE, "Whether it is installed.", default="present"),
        AttributeSchema("version", Text("word"), "The exact version.", default="the newest"),
    ),
)

FILE = BlockSchema(
    "file",
    "A file on the host.",
    labels=(LabelSchema("PATH", "path", "Its absolute path."),),
    attributes=(
        AttributeSchema("source", Text("path"), "What is copied there, relative to this file.", required=True),
        AttributeSchema("owner", Text("word"), "The owner.", default='"root"'),
        AttributeSchema("group", Text("word"), "The group.", default='"root"'),
        AttributeSchema("mode", Text("mode"), "The permissions in octal.", default='"0644"'),
    ),
)

SERVICE = BlockSchema(
    "service",
    "A systemd unit.",
    labels=(LabelSchema("NAME", "word", "The unit's name without `.service`."),),
    attributes=(
        AttributeSchema("state", SERVICE_STATE, "Whether it runs.", default="running"),
        AttributeSchema("enabled", BooleanType(), "Whether it is started at boot.", default="true"),
    ),
)

USER = BlockSchema(
    "user",
    "An account on the host.",
    labels=(LabelSchema("NAME", "word", "The login name."),),
    attributes=(
        AttributeSchema("groups", ListOf(Text("word"), minimum=0), "Groups it is in besides its own.", default="[]"),
        AttributeSchema("shell", Text("word"), "The login shell.", default='"/bin/bash"'),
    ),
)

ENDPOINT = BlockSchema(
    "endpoint",
    "A port of the host that others connect to.",
    labels=(LabelSchema("NAME", "name", "What bindings call it."),),
    attributes=(
        AttributeSchema("port", NumberType(integer=True, minimum=1, maximum=65535), "The TCP port.", required=True),
        AttributeSchema(
            "service", ReferenceType(("service.SERVICE",)), "The service that listens there.", required=True
        ),
    ),
)

HOST = BlockSchema(
    "host",
    "A machine with an operating system, reached over SSH: what is installed on it, what runs, what it offers.",
    labels=(LabelSchema("NAME", "name", "What the rest of the scenario calls it."),),
    attributes=(
        AttributeSchema("os", OPERATING_SYSTEM, "The operating system.", required=True),
        AttributeSchema(
            "cpus", NumberType(integer=True, minimum=1, maximum=64), "How many CPU cores it has.", default="1"
        ),
        AttributeSchema("memory", Quantity("memory", 64 * 2**20), "How much memory it has.", default='"1Gi"'),
        AttributeSchema("disk", Quantity("memory", 2**30), "How large its disk is.", default='"10Gi"'),
    ),
    blocks=(
        Nested(PACKAGE),
        Nested(FILE),
        Nested(SERVICE),
        Nested(USER),
        Nested(ENDPOINT),
        Nested(COMPONENT),
        Nested(TELEMETRY, 0, 1),
    ),
    checked=False,
)

ENVIRONMENT = BlockSchema(
    "environment",
    "E: everything that stands before anything breaks.",
    blocks=(Nested(CLUSTER), Nested(HOST)),
)
