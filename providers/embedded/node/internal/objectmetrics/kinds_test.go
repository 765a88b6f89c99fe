package objectmetrics

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "u", Generation: 3, CreationTimestamp: at}
}

func TestADeployment(t *testing.T) {
	deployment := &appsv1.Deployment{
		ObjectMeta: meta("cart"),
		Spec: appsv1.DeploymentSpec{Replicas: pointer(int32(5)), Strategy: appsv1.DeploymentStrategy{
			RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxUnavailable: pointer(intstr.FromString("25%")), MaxSurge: pointer(intstr.FromString("25%"))}}},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 2, Replicas: 5, UpdatedReplicas: 4, ReadyReplicas: 3, AvailableReplicas: 2, UnavailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"}},
		},
	}
	expect(t, running(t, deployment), `
		# TYPE kube_deployment_created gauge
		kube_deployment_created{deployment="cart",namespace="shop"} 1.7e+09
		# TYPE kube_deployment_metadata_generation gauge
		kube_deployment_metadata_generation{deployment="cart",namespace="shop"} 3
		# TYPE kube_deployment_spec_paused gauge
		kube_deployment_spec_paused{deployment="cart",namespace="shop"} 0
		# TYPE kube_deployment_spec_replicas gauge
		kube_deployment_spec_replicas{deployment="cart",namespace="shop"} 5
		# TYPE kube_deployment_spec_strategy_rollingupdate_max_surge gauge
		kube_deployment_spec_strategy_rollingupdate_max_surge{deployment="cart",namespace="shop"} 2
		# TYPE kube_deployment_spec_strategy_rollingupdate_max_unavailable gauge
		kube_deployment_spec_strategy_rollingupdate_max_unavailable{deployment="cart",namespace="shop"} 1
		# TYPE kube_deployment_status_condition gauge
		kube_deployment_status_condition{condition="Available",deployment="cart",namespace="shop",reason="MinimumReplicasAvailable",status="false"} 0
		kube_deployment_status_condition{condition="Available",deployment="cart",namespace="shop",reason="MinimumReplicasAvailable",status="true"} 1
		kube_deployment_status_condition{condition="Available",deployment="cart",namespace="shop",reason="MinimumReplicasAvailable",status="unknown"} 0
		# TYPE kube_deployment_status_observed_generation gauge
		kube_deployment_status_observed_generation{deployment="cart",namespace="shop"} 2
		# TYPE kube_deployment_status_replicas gauge
		kube_deployment_status_replicas{deployment="cart",namespace="shop"} 5
		# TYPE kube_deployment_status_replicas_available gauge
		kube_deployment_status_replicas_available{deployment="cart",namespace="shop"} 2
		# TYPE kube_deployment_status_replicas_ready gauge
		kube_deployment_status_replicas_ready{deployment="cart",namespace="shop"} 3
		# TYPE kube_deployment_status_replicas_unavailable gauge
		kube_deployment_status_replicas_unavailable{deployment="cart",namespace="shop"} 1
		# TYPE kube_deployment_status_replicas_updated gauge
		kube_deployment_status_replicas_updated{deployment="cart",namespace="shop"} 4
	`,
		"kube_deployment_created", "kube_deployment_metadata_generation", "kube_deployment_spec_paused", "kube_deployment_spec_replicas",
		"kube_deployment_spec_strategy_rollingupdate_max_surge", "kube_deployment_spec_strategy_rollingupdate_max_unavailable",
		"kube_deployment_status_condition", "kube_deployment_status_observed_generation", "kube_deployment_status_replicas",
		"kube_deployment_status_replicas_available", "kube_deployment_status_replicas_ready",
		"kube_deployment_status_replicas_unavailable", "kube_deployment_status_replicas_updated")
}

func TestTheOtherWorkloads(t *testing.T) {
	exporter := running(t,
		&appsv1.ReplicaSet{ObjectMeta: meta("cart-7"), Spec: appsv1.ReplicaSetSpec{Replicas: pointer(int32(2))},
			Status: appsv1.ReplicaSetStatus{Replicas: 2, ReadyReplicas: 1}},
		&appsv1.StatefulSet{ObjectMeta: meta("store"), Spec: appsv1.StatefulSetSpec{Replicas: pointer(int32(1))},
			Status: appsv1.StatefulSetStatus{ReadyReplicas: 1, UpdateRevision: "store-2"}},
		&appsv1.DaemonSet{ObjectMeta: meta("agent"), Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 2, NumberUnavailable: 1}},
	)
	expect(t, exporter, `
		# TYPE kube_daemonset_status_desired_number_scheduled gauge
		kube_daemonset_status_desired_number_scheduled{daemonset="agent",namespace="shop"} 2
		# TYPE kube_daemonset_status_number_unavailable gauge
		kube_daemonset_status_number_unavailable{daemonset="agent",namespace="shop"} 1
		# TYPE kube_replicaset_owner gauge
		kube_replicaset_owner{namespace="shop",owner_is_controller="",owner_kind="",owner_name="",replicaset="cart-7"} 1
		# TYPE kube_replicaset_spec_replicas gauge
		kube_replicaset_spec_replicas{namespace="shop",replicaset="cart-7"} 2
		# TYPE kube_replicaset_status_ready_replicas gauge
		kube_replicaset_status_ready_replicas{namespace="shop",replicaset="cart-7"} 1
		# TYPE kube_statefulset_replicas gauge
		kube_statefulset_replicas{namespace="shop",statefulset="store"} 1
		# TYPE kube_statefulset_status_replicas_ready gauge
		kube_statefulset_status_replicas_ready{namespace="shop",statefulset="store"} 1
		# TYPE kube_statefulset_status_update_revision gauge
		kube_statefulset_status_update_revision{namespace="shop",revision="store-2",statefulset="store"} 1
	`,
		"kube_daemonset_status_desired_number_scheduled", "kube_daemonset_status_number_unavailable", "kube_replicaset_owner",
		"kube_replicaset_spec_replicas", "kube_replicaset_status_ready_replicas", "kube_statefulset_replicas",
		"kube_statefulset_status_replicas_ready", "kube_statefulset_status_update_revision")
}

func TestJobs(t *testing.T) {
	exporter := running(t,
		&batchv1.Job{ObjectMeta: meta("late"), Status: batchv1.JobStatus{Failed: 1, Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded"}}}},
		&batchv1.Job{ObjectMeta: meta("odd"), Status: batchv1.JobStatus{Failed: 2}},
		&batchv1.Job{ObjectMeta: meta("fine"), Status: batchv1.JobStatus{Succeeded: 1, Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}},
		&batchv1.CronJob{ObjectMeta: meta("hourly"), Spec: batchv1.CronJobSpec{Schedule: "0 * * * *", ConcurrencyPolicy: "Forbid"}},
		&batchv1.CronJob{ObjectMeta: meta("paused"), Spec: batchv1.CronJobSpec{Schedule: "0 * * * *", Suspend: pointer(true)}},
	)
	expect(t, exporter, `
		# TYPE kube_cronjob_info gauge
		kube_cronjob_info{concurrency_policy="Forbid",cronjob="hourly",namespace="shop",schedule="0 * * * *",timezone=""} 1
		kube_cronjob_info{concurrency_policy="",cronjob="paused",namespace="shop",schedule="0 * * * *",timezone=""} 1
		# TYPE kube_cronjob_next_schedule_time gauge
		kube_cronjob_next_schedule_time{cronjob="hourly",namespace="shop"} 1.7000028e+09
		# TYPE kube_job_complete gauge
		kube_job_complete{condition="false",job_name="fine",namespace="shop"} 0
		kube_job_complete{condition="true",job_name="fine",namespace="shop"} 1
		kube_job_complete{condition="unknown",job_name="fine",namespace="shop"} 0
		# TYPE kube_job_failed gauge
		kube_job_failed{condition="false",job_name="late",namespace="shop"} 0
		kube_job_failed{condition="true",job_name="late",namespace="shop"} 1
		kube_job_failed{condition="unknown",job_name="late",namespace="shop"} 0
		# TYPE kube_job_status_failed gauge
		kube_job_status_failed{job_name="fine",namespace="shop",reason=""} 0
		kube_job_status_failed{job_name="late",namespace="shop",reason="BackoffLimitExceeded"} 0
		kube_job_status_failed{job_name="late",namespace="shop",reason="DeadlineExceeded"} 1
		kube_job_status_failed{job_name="late",namespace="shop",reason="Evicted"} 0
		kube_job_status_failed{job_name="odd",namespace="shop",reason=""} 2
		# TYPE kube_job_status_succeeded gauge
		kube_job_status_succeeded{job_name="fine",namespace="shop"} 1
		kube_job_status_succeeded{job_name="late",namespace="shop"} 0
		kube_job_status_succeeded{job_name="odd",namespace="shop"} 0
	`,
		"kube_cronjob_info", "kube_cronjob_next_schedule_time", "kube_job_complete", "kube_job_failed", "kube_job_status_failed",
		"kube_job_status_succeeded")
}

func TestANode(t *testing.T) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}},
		Spec:       corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}}},
		Status: corev1.NodeStatus{
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}},
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi"),
				corev1.ResourcePods: resource.MustParse("60"), "hugepages-2Mi": resource.MustParse("2Mi")},
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1900m")},
			NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: "v1.36.3", OSImage: "Debian"},
		},
	}
	expect(t, running(t, node), `
		# TYPE kube_node_info gauge
		kube_node_info{container_runtime_version="",internal_ip="10.0.0.1",kernel_version="",kubelet_version="v1.36.3",kubeproxy_version="",node="n1",os_image="Debian",pod_cidr="",provider_id="",system_uuid=""} 1
		# TYPE kube_node_role gauge
		kube_node_role{node="n1",role="control-plane"} 1
		# TYPE kube_node_spec_taint gauge
		kube_node_spec_taint{effect="NoSchedule",key="k",node="n1",value="v"} 1
		# TYPE kube_node_spec_unschedulable gauge
		kube_node_spec_unschedulable{node="n1"} 1
		# TYPE kube_node_status_allocatable gauge
		kube_node_status_allocatable{node="n1",resource="cpu",unit="core"} 1.9
		# TYPE kube_node_status_capacity gauge
		kube_node_status_capacity{node="n1",resource="cpu",unit="core"} 2
		kube_node_status_capacity{node="n1",resource="hugepages_2Mi",unit="byte"} 2.097152e+06
		kube_node_status_capacity{node="n1",resource="memory",unit="byte"} 1.073741824e+09
		kube_node_status_capacity{node="n1",resource="pods",unit="integer"} 60
		# TYPE kube_node_status_condition gauge
		kube_node_status_condition{condition="Ready",node="n1",status="false"} 0
		kube_node_status_condition{condition="Ready",node="n1",status="true"} 0
		kube_node_status_condition{condition="Ready",node="n1",status="unknown"} 1
	`,
		"kube_node_info", "kube_node_role", "kube_node_spec_taint", "kube_node_spec_unschedulable", "kube_node_status_allocatable",
		"kube_node_status_capacity", "kube_node_status_condition")
}

func TestTheNetwork(t *testing.T) {
	exporter := running(t,
		&corev1.Service{ObjectMeta: meta("cart"), Spec: corev1.ServiceSpec{
			ClusterIP: "10.96.0.7", Type: corev1.ServiceTypeClusterIP,
			Ports: []corev1.ServicePort{{Name: "http", Protocol: "TCP", Port: 8080, TargetPort: intstr.FromString("http")}}}},
		&corev1.Endpoints{ObjectMeta: meta("cart"), Subsets: []corev1.EndpointSubset{
			{Addresses: []corev1.EndpointAddress{{IP: "10.244.0.9"}}, Ports: []corev1.EndpointPort{{Name: "http", Protocol: "TCP", Port: 8080}}},
			{Addresses: []corev1.EndpointAddress{{IP: "10.244.0.9"}}, NotReadyAddresses: []corev1.EndpointAddress{{IP: "10.244.0.10"}},
				Ports: []corev1.EndpointPort{{Name: "http", Protocol: "TCP", Port: 8080}}}}},
		&discoveryv1.EndpointSlice{ObjectMeta: meta("cart-x"), AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.244.0.9"}, Conditions: discoveryv1.EndpointConditions{Ready: pointer(false), Serving: pointer(true)},
				TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "cart-1", Namespace: "shop"}, NodeName: pointer("n1")}}},
	)
	expect(t, exporter, `
		# TYPE kube_endpoint_address gauge
		kube_endpoint_address{endpoint="cart",ip="10.244.0.10",namespace="shop",ready="false"} 1
		kube_endpoint_address{endpoint="cart",ip="10.244.0.9",namespace="shop",ready="true"} 1
		# TYPE kube_endpoint_ports gauge
		kube_endpoint_ports{endpoint="cart",namespace="shop",port_name="http",port_number="8080",port_protocol="TCP"} 1
		# TYPE kube_endpointslice_endpoints gauge
		kube_endpointslice_endpoints{address="10.244.0.9",endpoint_zone="",endpointslice="cart-x",hostname="",namespace="shop",nodename="n1",ready="false",serving="true",targetref_kind="Pod",targetref_name="cart-1",targetref_namespace="shop",terminating=""} 1
		# TYPE kube_service_info gauge
		kube_service_info{cluster_ip="10.96.0.7",external_name="",external_traffic_policy="",load_balancer_ip="",namespace="shop",service="cart",uid="u"} 1
		# TYPE kube_service_ports gauge
		kube_service_ports{namespace="shop",port_app_protocol="",port_name="http",port_node_number="",port_number="8080",port_protocol="TCP",port_target="http",service="cart",uid="u"} 1
		# TYPE kube_service_spec_type gauge
		kube_service_spec_type{namespace="shop",service="cart",type="ClusterIP",uid="u"} 1
	`,
		"kube_endpoint_address", "kube_endpoint_ports", "kube_endpointslice_endpoints", "kube_service_info", "kube_service_ports",
		"kube_service_spec_type")
}

func TestStorageAndQuotas(t *testing.T) {
	exporter := running(t,
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("disk"),
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: pointer("local"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Ki")}}},
			Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"},
			Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "disk"}}},
		&corev1.ResourceQuota{ObjectMeta: meta("quota"), Status: corev1.ResourceQuotaStatus{
			Hard: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			Used: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}}},
		&corev1.ConfigMap{ObjectMeta: meta("settings")},
	)
	expect(t, exporter, `
		# TYPE kube_configmap_info gauge
		kube_configmap_info{configmap="settings",namespace="shop"} 1
		# TYPE kube_persistentvolume_claim_ref gauge
		kube_persistentvolume_claim_ref{claim_namespace="shop",name="disk",persistentvolume="pv"} 1
		# TYPE kube_persistentvolumeclaim_access_mode gauge
		kube_persistentvolumeclaim_access_mode{access_mode="ReadWriteOnce",namespace="shop",persistentvolumeclaim="disk"} 1
		# TYPE kube_persistentvolumeclaim_info gauge
		kube_persistentvolumeclaim_info{namespace="shop",persistentvolumeclaim="disk",storageclass="local",volumemode="",volumename=""} 1
		# TYPE kube_persistentvolumeclaim_resource_requests_storage_bytes gauge
		kube_persistentvolumeclaim_resource_requests_storage_bytes{namespace="shop",persistentvolumeclaim="disk"} 1024
		# TYPE kube_persistentvolumeclaim_status_phase gauge
		kube_persistentvolumeclaim_status_phase{namespace="shop",persistentvolumeclaim="disk",phase="Bound"} 0
		kube_persistentvolumeclaim_status_phase{namespace="shop",persistentvolumeclaim="disk",phase="Lost"} 0
		kube_persistentvolumeclaim_status_phase{namespace="shop",persistentvolumeclaim="disk",phase="Pending"} 1
		# TYPE kube_resourcequota gauge
		kube_resourcequota{namespace="shop",resource="cpu",resourcequota="quota",type="hard"} 2
		kube_resourcequota{namespace="shop",resource="cpu",resourcequota="quota",type="used"} 1.5
	`,
		"kube_configmap_info", "kube_persistentvolume_claim_ref", "kube_persistentvolumeclaim_access_mode",
		"kube_persistentvolumeclaim_info", "kube_persistentvolumeclaim_resource_requests_storage_bytes",
		"kube_persistentvolumeclaim_status_phase", "kube_resourcequota")
}

func TestAnAutoscaler(t *testing.T) {
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: meta("cart"),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"},
			MinReplicas:    pointer(int32(1)), MaxReplicas: 4,
			Metrics: []autoscalingv2.MetricSpec{{Resource: &autoscalingv2.ResourceMetricSource{
				Name: "cpu", Target: autoscalingv2.MetricTarget{AverageUtilization: pointer(int32(80))}}}}},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 2, DesiredReplicas: 3,
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: "AbleToScale", Status: corev1.ConditionTrue}},
			CurrentMetrics: []autoscalingv2.MetricStatus{{Pods: &autoscalingv2.PodsMetricStatus{
				Metric: autoscalingv2.MetricIdentifier{Name: "rps"}, Current: autoscalingv2.MetricValueStatus{AverageValue: pointer(resource.MustParse("1500m"))}}}}},
	}
	expect(t, running(t, autoscaler), `
		# TYPE kube_horizontalpodautoscaler_info gauge
		kube_horizontalpodautoscaler_info{horizontalpodautoscaler="cart",namespace="shop",scaletargetref_api_version="apps/v1",scaletargetref_kind="Deployment",scaletargetref_name="cart"} 1
		# TYPE kube_horizontalpodautoscaler_spec_max_replicas gauge
		kube_horizontalpodautoscaler_spec_max_replicas{horizontalpodautoscaler="cart",namespace="shop"} 4
		# TYPE kube_horizontalpodautoscaler_spec_min_replicas gauge
		kube_horizontalpodautoscaler_spec_min_replicas{horizontalpodautoscaler="cart",namespace="shop"} 1
		# TYPE kube_horizontalpodautoscaler_spec_target_metric gauge
		kube_horizontalpodautoscaler_spec_target_metric{horizontalpodautoscaler="cart",metric_name="cpu",metric_target_type="utilization",namespace="shop"} 80
		# TYPE kube_horizontalpodautoscaler_status_condition gauge
		kube_horizontalpodautoscaler_status_condition{condition="AbleToScale",horizontalpodautoscaler="cart",namespace="shop",status="false"} 0
		kube_horizontalpodautoscaler_status_condition{condition="AbleToScale",horizontalpodautoscaler="cart",namespace="shop",status="true"} 1
		kube_horizontalpodautoscaler_status_condition{condition="AbleToScale",horizontalpodautoscaler="cart",namespace="shop",status="unknown"} 0
		# TYPE kube_horizontalpodautoscaler_status_current_replicas gauge
		kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="cart",namespace="shop"} 2
		# TYPE kube_horizontalpodautoscaler_status_desired_replicas gauge
		kube_horizontalpodautoscaler_status_desired_replicas{horizontalpodautoscaler="cart",namespace="shop"} 3
		# TYPE kube_horizontalpodautoscaler_status_target_metric gauge
		kube_horizontalpodautoscaler_status_target_metric{horizontalpodautoscaler="cart",metric_name="rps",metric_target_type="average",namespace="shop"} 1.5
	`,
		"kube_horizontalpodautoscaler_info", "kube_horizontalpodautoscaler_spec_max_replicas",
		"kube_horizontalpodautoscaler_spec_min_replicas", "kube_horizontalpodautoscaler_spec_target_metric",
		"kube_horizontalpodautoscaler_status_condition", "kube_horizontalpodautoscaler_status_current_replicas",
		"kube_horizontalpodautoscaler_status_desired_replicas", "kube_horizontalpodautoscaler_status_target_metric")
}
