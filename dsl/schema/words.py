"""The bare words of the language, each with its meaning."""

from __future__ import annotations

from itbc.dsl.schema.types import Keyword

PERSONA = Keyword(
    {
        "sre": "site reliability: something broke and has to be found and mended",
        "ciso": "security and compliance: something is against a control and has to be judged and mended",
        "finops": "cost: something costs more than it has to",
    }
)

SEVERITY = Keyword(
    {
        "critical": "somebody is called at night",
        "warning": "somebody looks at it in the morning",
        "info": "nobody has to look at it",
    }
)

CONTROL_SEVERITY = Keyword({"high": "mend at once", "medium": "mend this month", "low": "mend when convenient"})

VERDICT = Keyword(
    {
        "compliant": "the policy has to pass it",
        "violating": "the policy has to refuse it",
        "out_of_scope": "the policy has to say nothing about it",
    }
)

POLICY_LANGUAGE = Keyword(
    {
        "kyverno_cluster_policy": "a Kyverno ClusterPolicy",
        "kyverno_validating_policy": "a Kyverno ValidatingPolicy (CEL)",
        "validating_admission_policy": "a Kubernetes ValidatingAdmissionPolicy (CEL)",
        "rego": "a Rego module with `data.check.result`",
        "ansible_playbook": "an Ansible playbook that collects or mends",
    }
)

OPERATING_SYSTEM = Keyword({"rhel9": "Red Hat Enterprise Linux 9 or a rebuild of it"})

PACKAGE_STATE = Keyword({"present": "installed", "absent": "not installed"})

SERVICE_STATE = Keyword({"running": "started", "stopped": "not started"})

RATE_UNIT = Keyword(
    {
        "core_hour": "one CPU core for one hour",
        "gibibyte_hour": "one GiB of memory for one hour",
        "storage_gibibyte_hour": "one GiB of volume for one hour",
        "load_balancer_hour": "one load balancer for one hour",
        "gpu_hour": "one GPU for one hour",
    }
)

PERIOD = Keyword({"hour": "per hour", "month": "per month of 730 hours"})
