"""The names of the Kubernetes API that the language has to know: kinds, resources, verbs."""

from __future__ import annotations

KINDS: dict[str, tuple[str, str]] = {
    "ConfigMap": ("configmaps", ""),
    "Endpoints": ("endpoints", ""),
    "Event": ("events", ""),
    "LimitRange": ("limitranges", ""),
    "PersistentVolumeClaim": ("persistentvolumeclaims", ""),
    "Pod": ("pods", ""),
    "PodTemplate": ("podtemplates", ""),
    "ReplicationController": ("replicationcontrollers", ""),
    "ResourceQuota": ("resourcequotas", ""),
    "Secret": ("secrets", ""),
    "Service": ("services", ""),
    "ServiceAccount": ("serviceaccounts", ""),
    "Node": ("nodes", ""),
    "Namespace": ("namespaces", ""),
    "PersistentVolume": ("persistentvolumes", ""),
    "Deployment": ("deployments", "apps"),
    "DaemonSet": ("daemonsets", "apps"),
    "ReplicaSet": ("replicasets", "apps"),
    "StatefulSet": ("statefulsets", "apps"),
    "ControllerRevision": ("controllerrevisions", "apps"),
    "HorizontalPodAutoscaler": ("horizontalpodautoscalers", "autoscaling"),
    "CronJob": ("cronjobs", "batch"),
    "Job": ("jobs", "batch"),
    "Lease": ("leases", "coordination.k8s.io"),
    "EndpointSlice": ("endpointslices", "discovery.k8s.io"),
    "Ingress": ("ingresses", "networking.k8s.io"),
    "NetworkPolicy": ("networkpolicies", "networking.k8s.io"),
    "IngressClass": ("ingressclasses", "networking.k8s.io"),
    "PodDisruptionBudget": ("poddisruptionbudgets", "policy"),
    "Role": ("roles", "rbac.authorization.k8s.io"),
    "RoleBinding": ("rolebindings", "rbac.authorization.k8s.io"),
    "ClusterRole": ("clusterroles", "rbac.authorization.k8s.io"),
    "ClusterRoleBinding": ("clusterrolebindings", "rbac.authorization.k8s.io"),
    "StorageClass": ("storageclasses", "storage.k8s.io"),
    "PriorityClass": ("priorityclasses", "scheduling.k8s.io"),
    "CustomResourceDefinition": ("customresourcedefinitions", "apiextensions.k8s.io"),
    "ValidatingAdmissionPolicy": ("validatingadmissionpolicies", "admissionregistration.k8s.io"),
    "ValidatingAdmissionPolicyBinding": ("validatingadmissionpolicybindings", "admissionregistration.k8s.io"),
    "ValidatingWebhookConfiguration": ("validatingwebhookconfigurations", "admissionregistration.k8s.io"),
    "MutatingWebhookConfiguration": ("mutatingwebhookconfigurations", "admissionregistration.k8s.io"),
}
"""Kind → (resource, API group)."""

CLUSTER_SCOPED = frozenset(
    {
        "Node",
        "Namespace",
        "PersistentVolume",
        "IngressClass",
        "ClusterRole",
        "ClusterRoleBinding",
        "StorageClass",
        "PriorityClass",
        "CustomResourceDefinition",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    }
)
"""The kinds whose objects are in no namespace."""

RESOURCES: dict[str, str] = dict(KINDS.values())
"""Resource → API group."""

KIND_WORDS: dict[str, str] = {kind.lower(): kind for kind in KINDS}
"""How references write kinds → kind."""

SHORT_NAMES = {
    "deploy": "deployment",
    "svc": "service",
    "cm": "configmap",
    "hpa": "horizontalpodautoscaler",
    "ds": "daemonset",
    "sts": "statefulset",
    "rs": "replicaset",
    "po": "pod",
    "ns": "namespace",
    "pvc": "persistentvolumeclaim",
    "pv": "persistentvolume",
    "sa": "serviceaccount",
    "netpol": "networkpolicy",
    "ing": "ingress",
    "pdb": "poddisruptionbudget",
    "cj": "cronjob",
}
"""kubectl's short names → how references write the kind."""

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
"""The verbs of Kubernetes RBAC that a grant may give."""

WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"})
"""The kinds that run containers."""
