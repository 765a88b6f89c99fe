package objectmetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var (
	deploymentScope  = scope{"namespace", "deployment"}
	replicaSetScope  = scope{"namespace", "replicaset"}
	statefulSetScope = scope{"namespace", "statefulset"}
	daemonSetScope   = scope{"namespace", "daemonset"}
)

var deploymentCondition = deploymentScope.gauge("kube_deployment_status_condition",
	"The conditions of a deployment.", "reason", "condition", "status")

var deploymentNumbers = []number[*appsv1.Deployment]{
	{deploymentScope.gauge("kube_deployment_created", "When a deployment was created, in Unix seconds."),
		func(d *appsv1.Deployment) (float64, bool) { return moment(&d.CreationTimestamp) }},
	{deploymentScope.gauge("kube_deployment_deletion_timestamp", "When a deployment's deletion is due, in Unix seconds."),
		func(d *appsv1.Deployment) (float64, bool) { return moment(d.DeletionTimestamp) }},
	{deploymentScope.gauge("kube_deployment_metadata_generation", "How often the specification of a deployment was written."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Generation) }},
	{deploymentScope.gauge("kube_deployment_status_observed_generation", "The generation that the controller has acted on."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Status.ObservedGeneration) }},
	{deploymentScope.gauge("kube_deployment_spec_replicas", "The pods that a deployment is to have."),
		func(d *appsv1.Deployment) (float64, bool) { return optional(d.Spec.Replicas) }},
	{deploymentScope.gauge("kube_deployment_spec_paused", "Whether the roll-out of a deployment is paused."),
		func(d *appsv1.Deployment) (float64, bool) { return flag(d.Spec.Paused) }},
	{deploymentScope.gauge("kube_deployment_spec_strategy_rollingupdate_max_unavailable", "The pods that may be unavailable in a roll-out."),
		func(d *appsv1.Deployment) (float64, bool) { return rollingLimit(d, false) }},
	{deploymentScope.gauge("kube_deployment_spec_strategy_rollingupdate_max_surge", "The pods that a roll-out may have above the number wanted."),
		func(d *appsv1.Deployment) (float64, bool) { return rollingLimit(d, true) }},
	{deploymentScope.gauge("kube_deployment_status_replicas", "The pods that a deployment has."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Status.Replicas) }},
	{deploymentScope.gauge("kube_deployment_status_replicas_ready", "The ready pods of a deployment."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Status.ReadyReplicas) }},
	{deploymentScope.gauge("kube_deployment_status_replicas_available", "The available pods of a deployment."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Status.AvailableReplicas) }},
	{deploymentScope.gauge("kube_deployment_status_replicas_unavailable", "The unavailable pods of a deployment."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Status.UnavailableReplicas) }},
	{deploymentScope.gauge("kube_deployment_status_replicas_updated", "The pods of a deployment that have its present template."),
		func(d *appsv1.Deployment) (float64, bool) { return count(d.Status.UpdatedReplicas) }},
}

func collectDeployment(out chan<- prometheus.Metric, d *appsv1.Deployment) {
	s := sink{out: out, id: []string{d.Namespace, d.Name}}
	sendNumbers(s, d, deploymentNumbers)
	for _, condition := range d.Status.Conditions {
		sendCondition(s, deploymentCondition, condition.Status, condition.Reason, string(condition.Type))
	}
}

// rollingLimit gives a roll-out's limit as a number of pods: percentages of surge round up, those of unavailability down.
func rollingLimit(d *appsv1.Deployment, surge bool) (float64, bool) {
	rolling := d.Spec.Strategy.RollingUpdate
	if rolling == nil || d.Spec.Replicas == nil {
		return 0, false
	}
	limit := rolling.MaxUnavailable
	if surge {
		limit = rolling.MaxSurge
	}
	if limit == nil {
		return 0, false
	}
	pods, err := intstr.GetScaledValueFromIntOrPercent(limit, int(*d.Spec.Replicas), surge)
	return float64(pods), err == nil
}

var replicaSetOwner = replicaSetScope.gauge("kube_replicaset_owner",
	"The owners of a replica set.", "owner_kind", "owner_name", "owner_is_controller")

var replicaSetNumbers = []number[*appsv1.ReplicaSet]{
	{replicaSetScope.gauge("kube_replicaset_created", "When a replica set was created, in Unix seconds."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return moment(&r.CreationTimestamp) }},
	{replicaSetScope.gauge("kube_replicaset_metadata_generation", "How often the specification of a replica set was written."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return count(r.Generation) }},
	{replicaSetScope.gauge("kube_replicaset_status_observed_generation", "The generation that the controller has acted on."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return count(r.Status.ObservedGeneration) }},
	{replicaSetScope.gauge("kube_replicaset_spec_replicas", "The pods that a replica set is to have."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return optional(r.Spec.Replicas) }},
	{replicaSetScope.gauge("kube_replicaset_status_replicas", "The pods that a replica set has."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return count(r.Status.Replicas) }},
	{replicaSetScope.gauge("kube_replicaset_status_fully_labeled_replicas", "The pods of a replica set with all labels of its template."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return count(r.Status.FullyLabeledReplicas) }},
	{replicaSetScope.gauge("kube_replicaset_status_ready_replicas", "The ready pods of a replica set."),
		func(r *appsv1.ReplicaSet) (float64, bool) { return count(r.Status.ReadyReplicas) }},
}

func collectReplicaSet(out chan<- prometheus.Metric, r *appsv1.ReplicaSet) {
	s := sink{out: out, id: []string{r.Namespace, r.Name}}
	sendNumbers(s, r, replicaSetNumbers)
	sendOwners(s, replicaSetOwner, r.OwnerReferences)
}

var (
	statefulSetRetention = statefulSetScope.gauge("kube_statefulset_persistentvolumeclaim_retention_policy",
		"What becomes of the volume claims of a stateful set.", "when_deleted", "when_scaled")
	statefulSetCurrent = statefulSetScope.gauge("kube_statefulset_status_current_revision",
		"The revision that the pods of a stateful set had before the roll-out.", "revision")
	statefulSetUpdate = statefulSetScope.gauge("kube_statefulset_status_update_revision",
		"The revision that the pods of a stateful set are to get.", "revision")
)

var statefulSetNumbers = []number[*appsv1.StatefulSet]{
	{statefulSetScope.gauge("kube_statefulset_created", "When a stateful set was created, in Unix seconds."),
		func(t *appsv1.StatefulSet) (float64, bool) { return moment(&t.CreationTimestamp) }},
	{statefulSetScope.gauge("kube_statefulset_metadata_generation", "How often the specification of a stateful set was written."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Generation) }},
	{statefulSetScope.gauge("kube_statefulset_status_observed_generation", "The generation that the controller has acted on."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Status.ObservedGeneration) }},
	{statefulSetScope.gauge("kube_statefulset_replicas", "The pods that a stateful set is to have."),
		func(t *appsv1.StatefulSet) (float64, bool) { return optional(t.Spec.Replicas) }},
	{statefulSetScope.gauge("kube_statefulset_ordinals_start", "The number of the first pod of a stateful set."),
		func(t *appsv1.StatefulSet) (float64, bool) {
			if t.Spec.Ordinals == nil {
				return 0, false
			}
			return count(t.Spec.Ordinals.Start)
		}},
	{statefulSetScope.gauge("kube_statefulset_status_replicas", "The pods that a stateful set has."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Status.Replicas) }},
	{statefulSetScope.gauge("kube_statefulset_status_replicas_available", "The available pods of a stateful set."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Status.AvailableReplicas) }},
	{statefulSetScope.gauge("kube_statefulset_status_replicas_current", "The pods of a stateful set that have its current revision."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Status.CurrentReplicas) }},
	{statefulSetScope.gauge("kube_statefulset_status_replicas_ready", "The ready pods of a stateful set."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Status.ReadyReplicas) }},
	{statefulSetScope.gauge("kube_statefulset_status_replicas_updated", "The pods of a stateful set that have its update revision."),
		func(t *appsv1.StatefulSet) (float64, bool) { return count(t.Status.UpdatedReplicas) }},
}

func collectStatefulSet(out chan<- prometheus.Metric, t *appsv1.StatefulSet) {
	s := sink{out: out, id: []string{t.Namespace, t.Name}}
	sendNumbers(s, t, statefulSetNumbers)
	if policy := t.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		s.send(statefulSetRetention, 1, string(policy.WhenDeleted), string(policy.WhenScaled))
	}
	s.send(statefulSetCurrent, 1, t.Status.CurrentRevision)
	s.send(statefulSetUpdate, 1, t.Status.UpdateRevision)
}

var daemonSetNumbers = []number[*appsv1.DaemonSet]{
	{daemonSetScope.gauge("kube_daemonset_created", "When a daemon set was created, in Unix seconds."),
		func(d *appsv1.DaemonSet) (float64, bool) { return moment(&d.CreationTimestamp) }},
	{daemonSetScope.gauge("kube_daemonset_deletion_timestamp", "When a daemon set's deletion is due, in Unix seconds."),
		func(d *appsv1.DaemonSet) (float64, bool) { return moment(d.DeletionTimestamp) }},
	{daemonSetScope.gauge("kube_daemonset_metadata_generation", "How often the specification of a daemon set was written."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Generation) }},
	{daemonSetScope.gauge("kube_daemonset_status_observed_generation", "The generation that the controller has acted on."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.ObservedGeneration) }},
	{daemonSetScope.gauge("kube_daemonset_status_current_number_scheduled", "The nodes that have a pod of a daemon set and should."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.CurrentNumberScheduled) }},
	{daemonSetScope.gauge("kube_daemonset_status_desired_number_scheduled", "The nodes that should have a pod of a daemon set."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.DesiredNumberScheduled) }},
	{daemonSetScope.gauge("kube_daemonset_status_number_available", "The nodes with an available pod of a daemon set."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.NumberAvailable) }},
	{daemonSetScope.gauge("kube_daemonset_status_number_misscheduled", "The nodes that have a pod of a daemon set and shouldn't."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.NumberMisscheduled) }},
	{daemonSetScope.gauge("kube_daemonset_status_number_ready", "The nodes with a ready pod of a daemon set."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.NumberReady) }},
	{daemonSetScope.gauge("kube_daemonset_status_number_unavailable", "The nodes without an available pod of a daemon set."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.NumberUnavailable) }},
	{daemonSetScope.gauge("kube_daemonset_status_updated_number_scheduled", "The nodes whose pod of a daemon set has its present template."),
		func(d *appsv1.DaemonSet) (float64, bool) { return count(d.Status.UpdatedNumberScheduled) }},
}

func collectDaemonSet(out chan<- prometheus.Metric, d *appsv1.DaemonSet) {
	sendNumbers(sink{out: out, id: []string{d.Namespace, d.Name}}, d, daemonSetNumbers)
}
