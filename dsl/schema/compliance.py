"""Blocks of compliance scenarios: controls, the corpus a policy is judged on, what the agent hands in."""

from __future__ import annotations

from itbc.dsl.schema.types import (
    AttributeSchema,
    BlockSchema,
    BooleanType,
    Duration,
    LabelSchema,
    ListOf,
    Nested,
    ReferenceType,
    Text,
)
from itbc.dsl.schema.words import CONTROL_SEVERITY, POLICY_LANGUAGE, VERDICT

CONTROL = BlockSchema(
    "control",
    "A control of a published benchmark. Numbers move between versions, so the version is part of the control.",
    labels=(LabelSchema("NAME", "identifier", "What corpora and findings call it."),),
    attributes=(
        AttributeSchema("benchmark", Text(), "The benchmark's name.", required=True),
        AttributeSchema("version", Text("word"), "The exact version the id is from.", required=True),
        AttributeSchema("id", Text("word"), "The control's number in that version.", required=True),
        AttributeSchema("statement", Text(), "What it demands, in one's own words.", required=True),
        AttributeSchema("severity", CONTROL_SEVERITY, "How urgent a violation is.", default="medium"),
    ),
    checked=False,
)

STATE = BlockSchema(
    "state",
    "One state the policy is shown, with the verdict that is right for it.",
    labels=(LabelSchema("NAME", "identifier", "What reports call it."),),
    attributes=(
        AttributeSchema("verdict", VERDICT, "The right verdict.", required=True),
        AttributeSchema(
            "manifests", ListOf(Text("path")), "The objects of the state, as files or folders of YAML.", required=True
        ),
        AttributeSchema(
            "near_miss",
            BooleanType(),
            "Whether it differs from a state of the other verdict in one detail only.",
            default="false",
        ),
        AttributeSchema("why", Text(), "Why the verdict is right; needed for a near miss, shown in reports."),
    ),
)

CORPUS = BlockSchema(
    "corpus",
    "States with known verdicts. The agent never sees it; its policy is run on every state.",
    labels=(LabelSchema("NAME", "identifier", "What objectives call it."),),
    attributes=(
        AttributeSchema(
            "control", ReferenceType(("control.CONTROL",)), "The control the verdicts are about.", required=True
        ),
    ),
    blocks=(Nested(STATE, 2),),
    checked=False,
)

DELIVERABLE = BlockSchema(
    "deliverable",
    "A file the agent has to leave in its workspace.",
    labels=(LabelSchema("NAME", "identifier", "What objectives call it."),),
    attributes=(
        AttributeSchema("language", POLICY_LANGUAGE, "What it is written in.", required=True),
        AttributeSchema("path", Text("path"), "Where it has to lie in the workspace.", required=True),
        AttributeSchema("description", Text(), "What the agent is told about it."),
    ),
    checked=False,
)

FINDING = BlockSchema(
    "finding",
    "T of a compliance scenario: a scan must report these objects against a control before the agent starts.",
    labels=(LabelSchema("NAME", "identifier", "What reports call it."),),
    attributes=(
        AttributeSchema("control", ReferenceType(("control.CONTROL",)), "The control.", required=True),
        AttributeSchema(
            "objects",
            ListOf(ReferenceType(("cluster.CLUSTER.KIND.OBJECT", "host.HOST.KIND.OBJECT"))),
            "The objects that must be reported.",
            required=True,
        ),
        AttributeSchema("within", Duration(), "How soon after the fault.", required=True),
    ),
    checked=False,
)
