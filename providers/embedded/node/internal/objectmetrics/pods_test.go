package objectmetrics

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func crashingPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "cart-1", UID: "u1", CreationTimestamp: at,
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "cart", Controller: pointer(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: "n1", RestartPolicy: corev1.RestartPolicyAlways, PriorityClassName: "low",
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "disk", ReadOnly: true}}}},
			InitContainers: []corev1.Container{{Name: "wait", Image: "wait:1"}},
			Containers: []corev1.Container{{
				Name: "cart", Image: "shop:1",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
					Limits: corev1.ResourceList{
						corev1.ResourceMemory: resource.MustParse("64Mi"), "example.com/gpu": resource.MustParse("2")},
				},
			}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.244.0.9", HostIP: "10.0.0.1", StartTime: &at, QOSClass: corev1.PodQOSBurstable,
			PodIPs: []corev1.PodIP{{IP: "10.244.0.9"}, {IP: "fd00::9"}},
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse},
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at},
			},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "wait", Ready: true,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at}}}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "cart", Image: "docker.io/shop:1", ImageID: "sha256:1", ContainerID: "containerd://1", RestartCount: 4,
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: at}},
			}},
		},
	}
}

func TestAPod(t *testing.T) {
	expect(t, running(t, crashingPod()), `
		# TYPE kube_pod_created gauge
		kube_pod_created{namespace="shop",pod="cart-1",uid="u1"} 1.7e+09
		# TYPE kube_pod_info gauge
		kube_pod_info{created_by_kind="ReplicaSet",created_by_name="cart",host_ip="10.0.0.1",host_network="false",namespace="shop",node="n1",pod="cart-1",pod_ip="10.244.0.9",priority_class="low",uid="u1"} 1
		# TYPE kube_pod_ips gauge
		kube_pod_ips{ip="10.244.0.9",ip_family="4",namespace="shop",pod="cart-1",uid="u1"} 1
		kube_pod_ips{ip="fd00::9",ip_family="6",namespace="shop",pod="cart-1",uid="u1"} 1
		# TYPE kube_pod_owner gauge
		kube_pod_owner{namespace="shop",owner_is_controller="true",owner_kind="ReplicaSet",owner_name="cart",pod="cart-1",uid="u1"} 1
		# TYPE kube_pod_restart_policy gauge
		kube_pod_restart_policy{namespace="shop",pod="cart-1",type="Always",uid="u1"} 1
		# TYPE kube_pod_spec_volumes_persistentvolumeclaims_info gauge
		kube_pod_spec_volumes_persistentvolumeclaims_info{namespace="shop",persistentvolumeclaim="disk",pod="cart-1",uid="u1",volume="data"} 1
		# TYPE kube_pod_spec_volumes_persistentvolumeclaims_readonly gauge
		kube_pod_spec_volumes_persistentvolumeclaims_readonly{namespace="shop",persistentvolumeclaim="disk",pod="cart-1",uid="u1",volume="data"} 1
		# TYPE kube_pod_start_time gauge
		kube_pod_start_time{namespace="shop",pod="cart-1",uid="u1"} 1.7e+09
		# TYPE kube_pod_status_phase gauge
		kube_pod_status_phase{namespace="shop",phase="Failed",pod="cart-1",uid="u1"} 0
		kube_pod_status_phase{namespace="shop",phase="Pending",pod="cart-1",uid="u1"} 0
		kube_pod_status_phase{namespace="shop",phase="Running",pod="cart-1",uid="u1"} 1
		kube_pod_status_phase{namespace="shop",phase="Succeeded",pod="cart-1",uid="u1"} 0
		kube_pod_status_phase{namespace="shop",phase="Unknown",pod="cart-1",uid="u1"} 0
		# TYPE kube_pod_status_qos_class gauge
		kube_pod_status_qos_class{namespace="shop",pod="cart-1",qos_class="BestEffort",uid="u1"} 0
		kube_pod_status_qos_class{namespace="shop",pod="cart-1",qos_class="Burstable",uid="u1"} 1
		kube_pod_status_qos_class{namespace="shop",pod="cart-1",qos_class="Guaranteed",uid="u1"} 0
		# TYPE kube_pod_status_ready gauge
		kube_pod_status_ready{condition="false",namespace="shop",pod="cart-1",uid="u1"} 1
		kube_pod_status_ready{condition="true",namespace="shop",pod="cart-1",uid="u1"} 0
		kube_pod_status_ready{condition="unknown",namespace="shop",pod="cart-1",uid="u1"} 0
		# TYPE kube_pod_status_scheduled gauge
		kube_pod_status_scheduled{condition="false",namespace="shop",pod="cart-1",uid="u1"} 0
		kube_pod_status_scheduled{condition="true",namespace="shop",pod="cart-1",uid="u1"} 1
		kube_pod_status_scheduled{condition="unknown",namespace="shop",pod="cart-1",uid="u1"} 0
		# TYPE kube_pod_status_scheduled_time gauge
		kube_pod_status_scheduled_time{namespace="shop",pod="cart-1",uid="u1"} 1.7e+09
	`,
		"kube_pod_completion_time", "kube_pod_created", "kube_pod_info", "kube_pod_ips", "kube_pod_owner", "kube_pod_restart_policy",
		"kube_pod_spec_volumes_persistentvolumeclaims_info", "kube_pod_spec_volumes_persistentvolumeclaims_readonly", "kube_pod_start_time",
		"kube_pod_status_phase", "kube_pod_status_qos_class", "kube_pod_status_ready", "kube_pod_status_scheduled",
		"kube_pod_status_scheduled_time")
}

func TestContainers(t *testing.T) {
	expect(t, running(t, crashingPod()), `
		# TYPE kube_pod_container_info gauge
		kube_pod_container_info{container="cart",container_id="containerd://1",image="docker.io/shop:1",image_id="sha256:1",image_spec="shop:1",namespace="shop",pod="cart-1",uid="u1"} 1
		# TYPE kube_pod_container_resource_limits gauge
		kube_pod_container_resource_limits{container="cart",namespace="shop",node="n1",pod="cart-1",resource="example_com_gpu",uid="u1",unit="integer"} 2
		kube_pod_container_resource_limits{container="cart",namespace="shop",node="n1",pod="cart-1",resource="memory",uid="u1",unit="byte"} 6.7108864e+07
		# TYPE kube_pod_container_resource_requests gauge
		kube_pod_container_resource_requests{container="cart",namespace="shop",node="n1",pod="cart-1",resource="cpu",uid="u1",unit="core"} 0.01
		kube_pod_container_resource_requests{container="cart",namespace="shop",node="n1",pod="cart-1",resource="memory",uid="u1",unit="byte"} 1.6777216e+07
		# TYPE kube_pod_container_status_last_terminated_exitcode gauge
		kube_pod_container_status_last_terminated_exitcode{container="cart",namespace="shop",pod="cart-1",uid="u1"} 137
		# TYPE kube_pod_container_status_last_terminated_reason gauge
		kube_pod_container_status_last_terminated_reason{container="cart",namespace="shop",pod="cart-1",reason="OOMKilled",uid="u1"} 1
		# TYPE kube_pod_container_status_ready gauge
		kube_pod_container_status_ready{container="cart",namespace="shop",pod="cart-1",uid="u1"} 0
		# TYPE kube_pod_container_status_restarts_total counter
		kube_pod_container_status_restarts_total{container="cart",namespace="shop",pod="cart-1",uid="u1"} 4
		# TYPE kube_pod_container_status_running gauge
		kube_pod_container_status_running{container="cart",namespace="shop",pod="cart-1",uid="u1"} 0
		# TYPE kube_pod_container_status_terminated gauge
		kube_pod_container_status_terminated{container="cart",namespace="shop",pod="cart-1",uid="u1"} 0
		# TYPE kube_pod_container_status_waiting gauge
		kube_pod_container_status_waiting{container="cart",namespace="shop",pod="cart-1",uid="u1"} 1
		# TYPE kube_pod_container_status_waiting_reason gauge
		kube_pod_container_status_waiting_reason{container="cart",namespace="shop",pod="cart-1",reason="CrashLoopBackOff",uid="u1"} 1
		# TYPE kube_pod_init_container_state_started gauge
		kube_pod_init_container_state_started{container="wait",namespace="shop",pod="cart-1",uid="u1"} 1.7e+09
		# TYPE kube_pod_init_container_status_ready gauge
		kube_pod_init_container_status_ready{container="wait",namespace="shop",pod="cart-1",uid="u1"} 1
		# TYPE kube_pod_init_container_status_terminated_reason gauge
		kube_pod_init_container_status_terminated_reason{container="wait",namespace="shop",pod="cart-1",reason="Completed",uid="u1"} 1
	`,
		"kube_pod_container_info", "kube_pod_container_resource_limits", "kube_pod_container_resource_requests",
		"kube_pod_container_status_last_terminated_exitcode", "kube_pod_container_status_last_terminated_reason",
		"kube_pod_container_status_ready", "kube_pod_container_status_restarts_total", "kube_pod_container_status_running",
		"kube_pod_container_status_terminated", "kube_pod_container_status_waiting", "kube_pod_container_status_waiting_reason",
		"kube_pod_init_container_state_started", "kube_pod_init_container_status_ready",
		"kube_pod_init_container_status_terminated_reason")
}

func TestAPodThatFitsNowhereIsUnschedulable(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "big", UID: "u2"},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}},
	}
	expect(t, running(t, pod), `
		# TYPE kube_pod_status_unschedulable gauge
		kube_pod_status_unschedulable{namespace="shop",pod="big",uid="u2"} 1
	`, "kube_pod_status_unschedulable")
}

func TestAPodBeingDeletedFromALostNodeIsUnknown(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "gone", UID: "u3", DeletionTimestamp: &at, Finalizers: []string{"x"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Reason: "NodeLost"},
	}
	expect(t, running(t, pod), `
		# TYPE kube_pod_status_phase gauge
		kube_pod_status_phase{namespace="shop",phase="Failed",pod="gone",uid="u3"} 0
		kube_pod_status_phase{namespace="shop",phase="Pending",pod="gone",uid="u3"} 0
		kube_pod_status_phase{namespace="shop",phase="Running",pod="gone",uid="u3"} 0
		kube_pod_status_phase{namespace="shop",phase="Succeeded",pod="gone",uid="u3"} 0
		kube_pod_status_phase{namespace="shop",phase="Unknown",pod="gone",uid="u3"} 1
		# TYPE kube_pod_status_reason gauge
		kube_pod_status_reason{namespace="shop",pod="gone",reason="Evicted",uid="u3"} 0
		kube_pod_status_reason{namespace="shop",pod="gone",reason="NodeAffinity",uid="u3"} 0
		kube_pod_status_reason{namespace="shop",pod="gone",reason="NodeLost",uid="u3"} 1
		kube_pod_status_reason{namespace="shop",pod="gone",reason="Shutdown",uid="u3"} 0
		kube_pod_status_reason{namespace="shop",pod="gone",reason="UnexpectedAdmissionError",uid="u3"} 0
	`, "kube_pod_status_phase", "kube_pod_status_reason")
}
