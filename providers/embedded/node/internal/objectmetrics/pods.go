package objectmetrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var podScope = scope{"namespace", "pod", "uid"}

var (
	podInfo = podScope.gauge("kube_pod_info", "What a pod is: where it runs and what made it.",
		"host_ip", "pod_ip", "node", "created_by_kind", "created_by_name", "priority_class", "host_network")
	podIPs            = podScope.gauge("kube_pod_ips", "The IP addresses of a pod.", "ip", "ip_family")
	podOwner          = podScope.gauge("kube_pod_owner", "The owners of a pod.", "owner_kind", "owner_name", "owner_is_controller")
	podRestartPolicy  = podScope.gauge("kube_pod_restart_policy", "The restart policy of a pod.", "type")
	podServiceAccount = podScope.gauge("kube_pod_service_account", "The service account of a pod.", "service_account")
	podScheduler      = podScope.gauge("kube_pod_scheduler", "The scheduler of a pod.", "name")
	podPhase          = podScope.gauge("kube_pod_status_phase", "The phase a pod is in.", "phase")
	podQOSClass       = podScope.gauge("kube_pod_status_qos_class", "The quality of service class of a pod.", "qos_class")
	podReady          = podScope.gauge("kube_pod_status_ready", "Whether a pod is ready to serve.", "condition")
	podScheduled      = podScope.gauge("kube_pod_status_scheduled", "Whether a pod has a node.", "condition")
	podReason         = podScope.gauge("kube_pod_status_reason", "Why a pod is in the state it is in.", "reason")
	podUnschedulable  = podScope.gauge("kube_pod_status_unschedulable", "The pod fits on no node.")
	podVolumeClaim    = podScope.gauge("kube_pod_spec_volumes_persistentvolumeclaims_info",
		"A persistent volume claim that a pod mounts.", "volume", "persistentvolumeclaim")
	podVolumeReadOnly = podScope.gauge("kube_pod_spec_volumes_persistentvolumeclaims_readonly",
		"Whether a pod mounts a persistent volume claim read-only.", "volume", "persistentvolumeclaim")
)

var podNumbers = []number[*corev1.Pod]{
	{podScope.gauge("kube_pod_created", "When a pod was created, in Unix seconds."),
		func(p *corev1.Pod) (float64, bool) { return moment(&p.CreationTimestamp) }},
	{podScope.gauge("kube_pod_deletion_timestamp", "When a pod's deletion is due, in Unix seconds."),
		func(p *corev1.Pod) (float64, bool) { return moment(p.DeletionTimestamp) }},
	{podScope.gauge("kube_pod_start_time", "When a node took a pod up, in Unix seconds."),
		func(p *corev1.Pod) (float64, bool) { return moment(p.Status.StartTime) }},
	{podScope.gauge("kube_pod_completion_time", "When the last container of a pod ended, in Unix seconds."), completion},
	{podScope.gauge("kube_pod_status_scheduled_time", "When a pod got its node, in Unix seconds."), since(corev1.PodScheduled)},
	{podScope.gauge("kube_pod_status_initialized_time", "When a pod's init containers had ended, in Unix seconds."), since(corev1.PodInitialized)},
	{podScope.gauge("kube_pod_status_container_ready_time", "When all containers of a pod became ready, in Unix seconds."), since(corev1.ContainersReady)},
	{podScope.gauge("kube_pod_status_ready_time", "When a pod became ready, in Unix seconds."), since(corev1.PodReady)},
}

var (
	podPhases     = []string{"Pending", "Succeeded", "Failed", "Unknown", "Running"}
	podQOSClasses = []string{"BestEffort", "Burstable", "Guaranteed"}
	podReasons    = []string{"Evicted", "NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError"}
	podPolicies   = []string{"Always", "OnFailure", "Never"}
)

func collectPod(out chan<- prometheus.Metric, p *corev1.Pod) {
	s := sink{out: out, id: []string{p.Namespace, p.Name, string(p.UID)}}
	var creatorKind, creatorName string
	if creator := metav1.GetControllerOf(p); creator != nil {
		creatorKind, creatorName = creator.Kind, creator.Name
	}
	s.send(podInfo, 1, p.Status.HostIP, p.Status.PodIP, p.Spec.NodeName, creatorKind, creatorName,
		p.Spec.PriorityClassName, strconv.FormatBool(p.Spec.HostNetwork))
	for _, address := range p.Status.PodIPs {
		ipFamily := "4"
		if strings.Contains(address.IP, ":") {
			ipFamily = "6"
		}
		s.send(podIPs, 1, address.IP, ipFamily)
	}
	sendOwners(s, podOwner, p.OwnerReferences)
	for _, policy := range podPolicies {
		if policy == string(p.Spec.RestartPolicy) {
			s.send(podRestartPolicy, 1, policy)
		}
	}
	s.send(podServiceAccount, 1, p.Spec.ServiceAccountName)
	s.send(podScheduler, 1, p.Spec.SchedulerName)
	collectPodStatus(s, p)
	sendNumbers(s, p, podNumbers)
	for _, volume := range p.Spec.Volumes {
		if claim := volume.PersistentVolumeClaim; claim != nil {
			s.send(podVolumeClaim, 1, volume.Name, claim.ClaimName)
			s.send(podVolumeReadOnly, truth(claim.ReadOnly), volume.Name, claim.ClaimName)
		}
	}
	appContainers.collect(s, p.Spec.NodeName, p.Spec.Containers, p.Status.ContainerStatuses)
	initContainers.collect(s, p.Spec.NodeName, p.Spec.InitContainers, p.Status.InitContainerStatuses)
}

func collectPodStatus(s sink, p *corev1.Pod) {
	if phase := string(p.Status.Phase); phase != "" {
		// A pod that is being deleted from a node nobody hears from is in an unknown phase, whatever was last written.
		if p.DeletionTimestamp != nil && p.Status.Reason == "NodeLost" {
			phase = "Unknown"
		}
		sendOneOf(s, podPhase, phase, podPhases)
	}
	if p.Status.QOSClass != "" {
		sendOneOf(s, podQOSClass, string(p.Status.QOSClass), podQOSClasses)
	}
	for _, condition := range p.Status.Conditions {
		switch condition.Type {
		case corev1.PodReady:
			sendCondition(s, podReady, condition.Status)
		case corev1.PodScheduled:
			sendCondition(s, podScheduled, condition.Status)
			if condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable {
				s.send(podUnschedulable, 1)
			}
		}
	}
	sendOneOf(s, podReason, p.Status.Reason, podReasons)
}

func completion(p *corev1.Pod) (float64, bool) {
	var last metav1.Time
	for _, status := range p.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil && last.Before(&ended.FinishedAt) {
			last = ended.FinishedAt
		}
	}
	return moment(&last)
}

// since gives the time at which a condition of a pod became true.
func since(kind corev1.PodConditionType) func(*corev1.Pod) (float64, bool) {
	return func(p *corev1.Pod) (float64, bool) {
		for _, condition := range p.Status.Conditions {
			if condition.Type == kind && condition.Status == corev1.ConditionTrue {
				return moment(&condition.LastTransitionTime)
			}
		}
		return 0, false
	}
}
