package objectmetrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
)

var (
	nodeScope      = scope{"node"}
	namespaceScope = scope{"namespace"}
	quotaScope     = scope{"namespace", "resourcequota"}
	configMapScope = scope{"namespace", "configmap"}
)

var (
	nodeInfo = nodeScope.gauge("kube_node_info", "What a node is.", "kernel_version", "os_image", "container_runtime_version",
		"kubelet_version", "kubeproxy_version", "pod_cidr", "provider_id", "system_uuid", "internal_ip")
	nodeRole        = nodeScope.gauge("kube_node_role", "The roles of a node.", "role")
	nodeTaint       = nodeScope.gauge("kube_node_spec_taint", "The taints of a node.", "key", "value", "effect")
	nodeCondition   = nodeScope.gauge("kube_node_status_condition", "The conditions of a node.", "condition", "status")
	nodeAddresses   = nodeScope.gauge("kube_node_status_addresses", "The addresses of a node.", "type", "address")
	nodeCapacity    = nodeScope.gauge("kube_node_status_capacity", "The resources that a node has.", "resource", "unit")
	nodeAllocatable = nodeScope.gauge("kube_node_status_allocatable", "The resources of a node that pods may have.", "resource", "unit")
)

var nodeNumbers = []number[*corev1.Node]{
	{nodeScope.gauge("kube_node_created", "When a node was registered, in Unix seconds."),
		func(n *corev1.Node) (float64, bool) { return moment(&n.CreationTimestamp) }},
	{nodeScope.gauge("kube_node_deletion_timestamp", "When a node's deletion is due, in Unix seconds."),
		func(n *corev1.Node) (float64, bool) { return moment(n.DeletionTimestamp) }},
	{nodeScope.gauge("kube_node_spec_unschedulable", "Whether a node takes no new pods."),
		func(n *corev1.Node) (float64, bool) { return flag(n.Spec.Unschedulable) }},
	{nodeScope.gauge("kube_node_volumes_in_use_count", "The volumes in use on a node."),
		func(n *corev1.Node) (float64, bool) { return count(len(n.Status.VolumesInUse)) }},
	{nodeScope.gauge("kube_node_volumes_attached_count", "The volumes attached to a node."),
		func(n *corev1.Node) (float64, bool) { return count(len(n.Status.VolumesAttached)) }},
}

const rolePrefix = "node-role.kubernetes.io/"

func collectNode(out chan<- prometheus.Metric, n *corev1.Node) {
	s := sink{out: out, id: []string{n.Name}}
	internal := ""
	for _, address := range n.Status.Addresses {
		s.send(nodeAddresses, 1, string(address.Type), address.Address)
		if address.Type == corev1.NodeInternalIP && internal == "" {
			internal = address.Address
		}
	}
	info := n.Status.NodeInfo
	s.send(nodeInfo, 1, info.KernelVersion, info.OSImage, info.ContainerRuntimeVersion, info.KubeletVersion,
		info.KubeProxyVersion, n.Spec.PodCIDR, n.Spec.ProviderID, info.SystemUUID, internal)
	for label := range n.Labels {
		if role, found := strings.CutPrefix(label, rolePrefix); found {
			s.send(nodeRole, 1, role)
		}
	}
	for _, taint := range n.Spec.Taints {
		s.send(nodeTaint, 1, taint.Key, taint.Value, string(taint.Effect))
	}
	for _, condition := range n.Status.Conditions {
		sendCondition(s, nodeCondition, condition.Status, string(condition.Type))
	}
	sendResources(s, nodeCapacity, n.Status.Capacity)
	sendResources(s, nodeAllocatable, n.Status.Allocatable)
	sendNumbers(s, n, nodeNumbers)
}

var (
	namespaceCreated   = namespaceScope.gauge("kube_namespace_created", "When a namespace was created, in Unix seconds.")
	namespacePhase     = namespaceScope.gauge("kube_namespace_status_phase", "The phase a namespace is in.", "phase")
	namespaceCondition = namespaceScope.gauge("kube_namespace_status_condition", "The conditions of a namespace.", "condition", "status")
)

func collectNamespace(out chan<- prometheus.Metric, n *corev1.Namespace) {
	s := sink{out: out, id: []string{n.Name}}
	if created, set := moment(&n.CreationTimestamp); set {
		s.send(namespaceCreated, created)
	}
	sendOneOf(s, namespacePhase, string(n.Status.Phase), []string{"Active", "Terminating"})
	for _, condition := range n.Status.Conditions {
		sendCondition(s, namespaceCondition, condition.Status, string(condition.Type))
	}
}

var (
	quotaCreated = quotaScope.gauge("kube_resourcequota_created", "When a resource quota was created, in Unix seconds.")
	quotaValue   = quotaScope.gauge("kube_resourcequota", "The bound (hard) and the use (used) of a resource.", "resource", "type")
)

func collectQuota(out chan<- prometheus.Metric, q *corev1.ResourceQuota) {
	s := sink{out: out, id: []string{q.Namespace, q.Name}}
	if created, set := moment(&q.CreationTimestamp); set {
		s.send(quotaCreated, created)
	}
	for kind, list := range map[string]corev1.ResourceList{"hard": q.Status.Hard, "used": q.Status.Used} {
		for name, quantity := range list {
			s.send(quotaValue, float64(quantity.MilliValue())/1000, string(name), kind)
		}
	}
}

var (
	configMapInfo    = configMapScope.gauge("kube_configmap_info", "A config map.")
	configMapCreated = configMapScope.gauge("kube_configmap_created", "When a config map was created, in Unix seconds.")
	configMapVersion = configMapScope.gauge("kube_configmap_metadata_resource_version", "The resource version of a config map.")
)

func collectConfigMap(out chan<- prometheus.Metric, c *corev1.ConfigMap) {
	s := sink{out: out, id: []string{c.Namespace, c.Name}}
	s.send(configMapInfo, 1)
	if created, set := moment(&c.CreationTimestamp); set {
		s.send(configMapCreated, created)
	}
	if version, err := strconv.ParseFloat(c.ResourceVersion, 64); err == nil {
		s.send(configMapVersion, version)
	}
}
