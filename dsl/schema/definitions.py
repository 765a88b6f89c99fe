"""Blocks that libraries declare and scenarios use: imports, applications, alerts, SLOs."""

from __future__ import annotations

from itbc.dsl.schema.types import (
    AttributeSchema,
    BlockSchema,
    Duration,
    LabelSchema,
    ListOf,
    MapOf,
    Nested,
    NumberType,
    ReferenceType,
    Text,
)
from itbc.dsl.schema.words import SEVERITY

IMPORT = BlockSchema(
    "import",
    "Makes what another file declares known here, by block type and label. A scenario can't be imported.",
    attributes=(AttributeSchema("source", Text("path"), "The file, relative to this one.", required=True),),
)

IMAGE = BlockSchema(
    "image",
    "A container image that is built from source on the machine the scenario runs on, without a registry.",
    labels=(LabelSchema("NAME", "name", "What the image is called in messages."),),
    attributes=(
        AttributeSchema("reference", Text("word"), "What the manifests write after `image:`.", required=True),
        AttributeSchema(
            "source", Text("path"), "The folder of a Go module (its own `go.mod`) with a main package.", required=True
        ),
    ),
)

COMPONENT = BlockSchema(
    "component",
    "A node of the topology: what people call a service. Diagnoses are scored by the distance between components.",
    labels=(LabelSchema("NAME", "name", "What alerts put into their `service` label."),),
    attributes=(
        AttributeSchema(
            "objects",
            ListOf(ReferenceType(("KIND.OBJECT",))),
            "The objects it is made of, kinds in lower case: `deployment.frontend`, `service.nginx`.",
            required=True,
        ),
        AttributeSchema(
            "calls", ListOf(Text("name"), minimum=0), "The components and dependencies it calls.", default="[]"
        ),
    ),
)

LOAD = BlockSchema(
    "load",
    "How the load is set: `load = { … }` in a cluster then sets environment variables of a workload.",
    attributes=(
        AttributeSchema(
            "workload", ReferenceType(("KIND.OBJECT",)), "The workload that makes the load.", required=True
        ),
        AttributeSchema(
            "settings", MapOf(Text("word")), "The environment variable behind each setting.", required=True
        ),
    ),
)

DEPENDENCY = BlockSchema(
    "dependency",
    "What the application needs from outside: a Kubernetes Service of this name, which a cluster's `bind` provides.",
    labels=(LabelSchema("NAME", "name", "The name of the Service; also a component that can be called."),),
    attributes=(
        AttributeSchema(
            "port", NumberType(integer=True, minimum=1, maximum=65535), "The port of the Service.", required=True
        ),
    ),
    checked=False,
)

APPLICATION = BlockSchema(
    "application",
    "An application that can be deployed into a cluster: its Kubernetes objects, the images they need, its topology.",
    labels=(LabelSchema("NAME", "name", "What clusters call it."),),
    attributes=(
        AttributeSchema("namespace", Text("name"), "The namespace its objects are put into.", required=True),
        AttributeSchema(
            "manifests",
            ListOf(Text("path")),
            "Folders or files of Kubernetes YAML, applied in order of their paths. The namespace is filled in.",
            required=True,
        ),
    ),
    blocks=(Nested(IMAGE), Nested(COMPONENT, 1), Nested(LOAD, 0, 1), Nested(DEPENDENCY)),
)

ALERT = BlockSchema(
    "alert",
    "An alerting rule of Prometheus.",
    labels=(LabelSchema("NAME", "alert", "The name of the alert."),),
    attributes=(
        AttributeSchema(
            "expression", Text("query"), "The PromQL expression that is true while something is wrong.", required=True
        ),
        AttributeSchema(
            "pending",
            Duration(minimum=0),
            "How long it must be true before the alert fires (Prometheus' `for`).",
            default='"0s"',
        ),
        AttributeSchema("severity", SEVERITY, "How urgent it is; becomes the label `severity`.", required=True),
        AttributeSchema("labels", MapOf(Text(), "label"), "More labels of the alert.", default="{}"),
        AttributeSchema("summary", Text(), "What it says to whoever is called.", required=True),
    ),
)

SLO = BlockSchema(
    "slo",
    "A service level objective: a PromQL expression and the bound it has to keep.",
    labels=(LabelSchema("NAME", "identifier", "What objectives call it."),),
    attributes=(
        AttributeSchema(
            "query", Text("query"), "The PromQL expression; its value is compared with the bound.", required=True
        ),
        AttributeSchema("below", NumberType(), "The value must be smaller."),
        AttributeSchema("at_most", NumberType(), "The value must be smaller or equal."),
        AttributeSchema("above", NumberType(), "The value must be greater."),
        AttributeSchema("at_least", NumberType(), "The value must be greater or equal."),
    ),
    exclusive=(("below", "at_most", "above", "at_least"),),
)
