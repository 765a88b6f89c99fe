"""The scenario: metadata, environment, faults, triggers, desired outcome, truth, grants, solution."""

from __future__ import annotations

from itbc.dsl.schema.compliance import CONTROL, CORPUS, DELIVERABLE, FINDING
from itbc.dsl.schema.cost import PRICE_SHEET
from itbc.dsl.schema.definitions import ALERT, APPLICATION, IMPORT, SLO
from itbc.dsl.schema.environment import ENVIRONMENT
from itbc.dsl.schema.types import (
    AttributeSchema,
    BlockSchema,
    BooleanType,
    Duration,
    FaultName,
    LabelSchema,
    ListOf,
    MapOf,
    Nested,
    NumberType,
    ReferenceType,
    Text,
)
from itbc.dsl.schema.words import PERIOD, PERSONA

_CLUSTER = ReferenceType(("cluster.CLUSTER",))
_HOST = ReferenceType(("host.HOST",))
_OBJECT = ReferenceType(("cluster.CLUSTER.KIND.OBJECT", "host.HOST.KIND.OBJECT"))
_WHICH_CLUSTER = AttributeSchema("cluster", _CLUSTER, "Which cluster is meant.", default="the scenario's only cluster")
_WHICH_HOST = AttributeSchema("host", _HOST, "Which host is meant.", checked=False)

METADATA = BlockSchema(
    "metadata",
    "M: what the scenario is called and for whom. The agent never sees it.",
    attributes=(
        AttributeSchema("title", Text(), "One line that says what is wrong.", required=True),
        AttributeSchema("persona", PERSONA, "Whose work it is.", required=True),
        AttributeSchema("description", Text(), "More about it, for people.", default='""'),
    ),
)

FAULT = BlockSchema(
    "fault",
    "What breaks: an entry of the fault catalogue, aimed at something. It is injected once all is healthy.",
    labels=(LabelSchema("NAME", "name", "What messages call it."),),
    attributes=(
        AttributeSchema("kind", FaultName(), "The entry of the catalogue, such as `k8s.env.modified`.", required=True),
        AttributeSchema("target", _OBJECT, "What it aims at.", required=True),
    ),
    open_doc="The other attributes are the parameters of the fault's kind.",
)

TRIGGER_ALERT = BlockSchema(
    "alert",
    "An alert that must fire because of the fault. The agent starts only after it was seen firing.",
    labels=(LabelSchema("ALERT", "alert", "A declared alert."),),
    attributes=(
        AttributeSchema("labels", MapOf(Text(), "label"), "Labels the firing alert must have.", default="{}"),
        AttributeSchema("within", Duration(), "How soon after the injection it must fire.", required=True),
        _WHICH_CLUSTER,
        _WHICH_HOST,
    ),
)

TRIGGER = BlockSchema(
    "trigger",
    "T: how the world learns that something is wrong.",
    blocks=(Nested(TRIGGER_ALERT), Nested(FINDING)),
)

OBJECTIVE = BlockSchema(
    "objective",
    "D: what must be so after the agent's work: an SLO holds, a policy judges a corpus rightly, a cost is low.",
    labels=(LabelSchema("NAME", "name", "What scores call it."),),
    attributes=(
        AttributeSchema("slo", ReferenceType(("slo.SLO",)), "The SLO that must hold."),
        AttributeSchema(
            "corpus", ReferenceType(("corpus.CORPUS",)), "The corpus a policy is judged on.", checked=False
        ),
        AttributeSchema(
            "cost",
            ReferenceType(("cluster.CLUSTER", "cluster.CLUSTER.KIND.OBJECT")),
            "What must not cost more than `at_most`.",
            checked=False,
        ),
        AttributeSchema(
            "hold", Duration(minimum=1), "For how long it must hold without a gap; needed with `slo` and `cost`."
        ),
        AttributeSchema(
            "settle", Duration(minimum=0), "How long after the agent's end the hold may begin.", default='"60s"'
        ),
        AttributeSchema(
            "baseline",
            BooleanType(),
            "Whether it must be met before anything happens too. `false` is for what only the changed demand makes "
            "possible.",
            default="true",
        ),
        AttributeSchema(
            "deliverable",
            ReferenceType(("deliverable.DELIVERABLE",)),
            "The policy; needed with `corpus`.",
            checked=False,
        ),
        AttributeSchema(
            "false_positives",
            NumberType(integer=True, minimum=0),
            "How many states may be refused wrongly.",
            default="0",
            checked=False,
        ),
        AttributeSchema(
            "false_negatives",
            NumberType(integer=True, minimum=0),
            "How many states may be passed wrongly.",
            default="0",
            checked=False,
        ),
        AttributeSchema(
            "at_most", NumberType(minimum=0), "The bound of a cost, in the price sheet's currency.", checked=False
        ),
        AttributeSchema("per", PERIOD, "The time the bound of a cost is for.", default="hour", checked=False),
        _WHICH_CLUSTER,
        _WHICH_HOST,
    ),
    exclusive=(("slo", "corpus", "cost"),),
)

SAFEGUARD = BlockSchema(
    "safeguard",
    "D: what a repair must not do. One broken safeguard and no objective counts.",
    labels=(LabelSchema("NAME", "name", "What scores call it."),),
    attributes=(
        AttributeSchema(
            "unchanged",
            ListOf(ReferenceType(("cluster.CLUSTER.KIND", "host.HOST.KIND"))),
            "All objects of these kinds, and what a workload of them leaves behind, must be what they were when all "
            "was healthy, but for what the faults touched.",
        ),
        AttributeSchema(
            "slo",
            ReferenceType(("slo.SLO",)),
            "An SLO that must hold from the agent's start to the end of the evaluation.",
            checked=False,
        ),
    ),
    exclusive=(("unchanged", "slo"),),
)

DESIRED = BlockSchema(
    "desired",
    'D: what "solved" means.',
    attributes=(
        AttributeSchema("goal", Text(), "What the agent is told.", required=True),
        AttributeSchema("within", Duration(minimum=1), "How long the agent has.", required=True),
    ),
    blocks=(Nested(OBJECTIVE, 1), Nested(SAFEGUARD)),
)

TRUTH = BlockSchema(
    "truth",
    "Why it broke. Never shown to an agent; diagnoses are scored against it.",
    attributes=(
        AttributeSchema(
            "root_causes",
            ListOf(_OBJECT, minimum=0),
            "Exactly the objects that the faults touch; `[]` where nothing is broken, and to see that is the task.",
        ),
        AttributeSchema(
            "chain",
            ListOf(Text("name")),
            "The components from the root cause to the alert; each next one calls the one before. Where nothing is "
            "broken: from what has changed to the alert, with the calls.",
        ),
        AttributeSchema("violations", ListOf(_OBJECT), "Exactly the objects that violate the control.", checked=False),
        AttributeSchema(
            "optimum",
            NumberType(minimum=0),
            "The lowest cost per hour at which every objective can be met.",
            checked=False,
        ),
    ),
)

GRANT = BlockSchema(
    "grant",
    "What the agent may do: a rule of Kubernetes RBAC in some namespaces, or commands on a host.",
    labels=(LabelSchema("NAME", "name", "What messages call it."),),
    attributes=(
        AttributeSchema("cluster", _CLUSTER, "The cluster."),
        AttributeSchema("host", _HOST, "The host.", checked=False),
        AttributeSchema(
            "resources",
            ListOf(Text("word")),
            "RBAC resources such as `deployments` or `pods/log`; needed with `cluster`.",
        ),
        AttributeSchema("verbs", ListOf(Text("word")), "RBAC verbs; needed with `cluster`."),
        AttributeSchema(
            "api_groups",
            ListOf(Text()),
            'RBAC API groups; `""` is the core group.',
            default="the groups of the resources",
        ),
        AttributeSchema(
            "namespaces", ListOf(Text("name")), "Where in the cluster.", default="the namespaces of its applications"
        ),
        AttributeSchema("sudo", ListOf(Text()), "Command lines the agent may run as root on the host.", checked=False),
    ),
    exclusive=(("cluster", "host"),),
)

STEP = BlockSchema(
    "step",
    "A command of the reference solution, or of a mutant of it, run with the agent's own rights.",
    labels=(LabelSchema("NAME", "name", "What messages call it."),),
    attributes=(
        AttributeSchema("command", ListOf(Text(), unique=False), "The program and its arguments.", required=True),
        _WHICH_CLUSTER,
        _WHICH_HOST,
    ),
)

SOLUTION = BlockSchema(
    "solution",
    "What the reference agent does, step by step. `itbc verify` proves that it works. Where nothing is broken it needs "
    "no steps.",
    blocks=(Nested(STEP),),
)

MUTANT = BlockSchema(
    "mutant",
    "A repair that isn't one: half of it, a neighbour's, one taken back. `itbc verify` proves that it fails.",
    labels=(LabelSchema("NAME", "name", "What messages call it; `--agent mutant:NAME` plays it."),),
    attributes=(AttributeSchema("why", Text(), "Why it isn't enough.", required=True),),
    blocks=(Nested(STEP, 1),),
)

SCENARIO = BlockSchema(
    "scenario",
    "One scenario: metadata, environment, faults, trigger, desired outcome, truth, grants, solution, mutants.",
    labels=(LabelSchema("NAME", "name", "The scenario's name; a shipped one's folder is called the same."),),
    blocks=(
        Nested(METADATA, 1, 1),
        Nested(ENVIRONMENT, 1, 1),
        Nested(FAULT),
        Nested(DELIVERABLE),
        Nested(TRIGGER, 0, 1),
        Nested(DESIRED, 1, 1),
        Nested(TRUTH, 1, 1),
        Nested(GRANT),
        Nested(SOLUTION, 0, 1),
        Nested(MUTANT),
    ),
)

FILE = BlockSchema(
    "file",
    "A file of the language.",
    blocks=(
        Nested(IMPORT),
        Nested(APPLICATION),
        Nested(ALERT),
        Nested(SLO),
        Nested(CONTROL),
        Nested(CORPUS),
        Nested(PRICE_SHEET),
        Nested(SCENARIO, 0, 1),
    ),
)
