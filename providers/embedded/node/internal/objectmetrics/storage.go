package objectmetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
)

var (
	claimScope  = scope{"namespace", "persistentvolumeclaim"}
	volumeScope = scope{"persistentvolume"}
)

var (
	claimInfo = claimScope.gauge("kube_persistentvolumeclaim_info", "What a volume claim asks for.",
		"storageclass", "volumename", "volumemode")
	claimCreated  = claimScope.gauge("kube_persistentvolumeclaim_created", "When a volume claim was created, in Unix seconds.")
	claimDeletion = claimScope.gauge("kube_persistentvolumeclaim_deletion_timestamp",
		"When a volume claim's deletion is due, in Unix seconds.")
	claimMode      = claimScope.gauge("kube_persistentvolumeclaim_access_mode", "The access modes of a volume claim.", "access_mode")
	claimPhase     = claimScope.gauge("kube_persistentvolumeclaim_status_phase", "The phase a volume claim is in.", "phase")
	claimCondition = claimScope.gauge("kube_persistentvolumeclaim_status_condition", "The conditions of a volume claim.", "type", "status")
	claimStorage   = claimScope.gauge("kube_persistentvolumeclaim_resource_requests_storage_bytes", "The bytes that a volume claim asks for.")
)

func collectVolumeClaim(out chan<- prometheus.Metric, c *corev1.PersistentVolumeClaim) {
	s := sink{out: out, id: []string{c.Namespace, c.Name}}
	mode := ""
	if c.Spec.VolumeMode != nil {
		mode = string(*c.Spec.VolumeMode)
	}
	s.send(claimInfo, 1, text(c.Spec.StorageClassName), c.Spec.VolumeName, mode)
	if created, set := moment(&c.CreationTimestamp); set {
		s.send(claimCreated, created)
	}
	if deletion, set := moment(c.DeletionTimestamp); set {
		s.send(claimDeletion, deletion)
	}
	for _, access := range c.Spec.AccessModes {
		s.send(claimMode, 1, string(access))
	}
	if c.Status.Phase != "" {
		sendOneOf(s, claimPhase, string(c.Status.Phase), []string{"Lost", "Bound", "Pending"})
	}
	for _, condition := range c.Status.Conditions {
		sendCondition(s, claimCondition, condition.Status, string(condition.Type))
	}
	if storage, set := c.Spec.Resources.Requests[corev1.ResourceStorage]; set {
		s.send(claimStorage, float64(storage.Value()))
	}
}

var (
	volumeCreated  = volumeScope.gauge("kube_persistentvolume_created", "When a volume was created, in Unix seconds.")
	volumePhase    = volumeScope.gauge("kube_persistentvolume_status_phase", "The phase a volume is in.", "phase")
	volumeCapacity = volumeScope.gauge("kube_persistentvolume_capacity_bytes", "The bytes that a volume holds.")
	volumeClaim    = volumeScope.gauge("kube_persistentvolume_claim_ref", "The claim that a volume is bound to.", "name", "claim_namespace")
)

func collectVolume(out chan<- prometheus.Metric, v *corev1.PersistentVolume) {
	s := sink{out: out, id: []string{v.Name}}
	if created, set := moment(&v.CreationTimestamp); set {
		s.send(volumeCreated, created)
	}
	if v.Status.Phase != "" {
		sendOneOf(s, volumePhase, string(v.Status.Phase), []string{"Pending", "Available", "Bound", "Released", "Failed"})
	}
	if storage, set := v.Spec.Capacity[corev1.ResourceStorage]; set {
		s.send(volumeCapacity, float64(storage.Value()))
	}
	if claim := v.Spec.ClaimRef; claim != nil {
		s.send(volumeClaim, 1, claim.Name, claim.Namespace)
	}
}
