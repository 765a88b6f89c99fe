package objectmetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var (
	autoscalerScope = scope{"namespace", "horizontalpodautoscaler"}
	budgetScope     = scope{"namespace", "poddisruptionbudget"}
)

var (
	autoscalerInfo = autoscalerScope.gauge("kube_horizontalpodautoscaler_info", "What an autoscaler scales.",
		"scaletargetref_api_version", "scaletargetref_kind", "scaletargetref_name")
	autoscalerCondition = autoscalerScope.gauge("kube_horizontalpodautoscaler_status_condition",
		"The conditions of an autoscaler.", "condition", "status")
	autoscalerTarget = autoscalerScope.gauge("kube_horizontalpodautoscaler_spec_target_metric",
		"The values that an autoscaler scales by.", "metric_name", "metric_target_type")
	autoscalerActual = autoscalerScope.gauge("kube_horizontalpodautoscaler_status_target_metric",
		"The values that an autoscaler last saw.", "metric_name", "metric_target_type")
)

var autoscalerNumbers = []number[*autoscalingv2.HorizontalPodAutoscaler]{
	{autoscalerScope.gauge("kube_horizontalpodautoscaler_created", "When an autoscaler was created, in Unix seconds."),
		func(h *autoscalingv2.HorizontalPodAutoscaler) (float64, bool) { return moment(&h.CreationTimestamp) }},
	{autoscalerScope.gauge("kube_horizontalpodautoscaler_metadata_generation", "How often the specification of an autoscaler was written."),
		func(h *autoscalingv2.HorizontalPodAutoscaler) (float64, bool) { return count(h.Generation) }},
	{autoscalerScope.gauge("kube_horizontalpodautoscaler_spec_max_replicas", "The most pods that an autoscaler may ask for."),
		func(h *autoscalingv2.HorizontalPodAutoscaler) (float64, bool) { return count(h.Spec.MaxReplicas) }},
	{autoscalerScope.gauge("kube_horizontalpodautoscaler_spec_min_replicas", "The fewest pods that an autoscaler may ask for."),
		func(h *autoscalingv2.HorizontalPodAutoscaler) (float64, bool) { return optional(h.Spec.MinReplicas) }},
	{autoscalerScope.gauge("kube_horizontalpodautoscaler_status_current_replicas", "The pods of what an autoscaler scales."),
		func(h *autoscalingv2.HorizontalPodAutoscaler) (float64, bool) { return count(h.Status.CurrentReplicas) }},
	{autoscalerScope.gauge("kube_horizontalpodautoscaler_status_desired_replicas", "The pods that an autoscaler asks for."),
		func(h *autoscalingv2.HorizontalPodAutoscaler) (float64, bool) { return count(h.Status.DesiredReplicas) }},
}

func collectAutoscaler(out chan<- prometheus.Metric, h *autoscalingv2.HorizontalPodAutoscaler) {
	s := sink{out: out, id: []string{h.Namespace, h.Name}}
	target := h.Spec.ScaleTargetRef
	s.send(autoscalerInfo, 1, target.APIVersion, target.Kind, target.Name)
	sendNumbers(s, h, autoscalerNumbers)
	for _, condition := range h.Status.Conditions {
		sendCondition(s, autoscalerCondition, condition.Status, string(condition.Type))
	}
	for _, metric := range h.Spec.Metrics {
		switch {
		case metric.Resource != nil:
			t := metric.Resource.Target
			sendScaling(s, autoscalerTarget, string(metric.Resource.Name), t.Value, t.AverageValue, t.AverageUtilization)
		case metric.ContainerResource != nil:
			t := metric.ContainerResource.Target
			sendScaling(s, autoscalerTarget, string(metric.ContainerResource.Name), t.Value, t.AverageValue, t.AverageUtilization)
		case metric.Pods != nil:
			t := metric.Pods.Target
			sendScaling(s, autoscalerTarget, metric.Pods.Metric.Name, t.Value, t.AverageValue, t.AverageUtilization)
		case metric.Object != nil:
			t := metric.Object.Target
			sendScaling(s, autoscalerTarget, metric.Object.Metric.Name, t.Value, t.AverageValue, t.AverageUtilization)
		case metric.External != nil:
			t := metric.External.Target
			sendScaling(s, autoscalerTarget, metric.External.Metric.Name, t.Value, t.AverageValue, t.AverageUtilization)
		}
	}
	for _, metric := range h.Status.CurrentMetrics {
		switch {
		case metric.Resource != nil:
			c := metric.Resource.Current
			sendScaling(s, autoscalerActual, string(metric.Resource.Name), c.Value, c.AverageValue, c.AverageUtilization)
		case metric.ContainerResource != nil:
			c := metric.ContainerResource.Current
			sendScaling(s, autoscalerActual, string(metric.ContainerResource.Name), c.Value, c.AverageValue, c.AverageUtilization)
		case metric.Pods != nil:
			c := metric.Pods.Current
			sendScaling(s, autoscalerActual, metric.Pods.Metric.Name, c.Value, c.AverageValue, c.AverageUtilization)
		case metric.Object != nil:
			c := metric.Object.Current
			sendScaling(s, autoscalerActual, metric.Object.Metric.Name, c.Value, c.AverageValue, c.AverageUtilization)
		case metric.External != nil:
			c := metric.External.Current
			sendScaling(s, autoscalerActual, metric.External.Metric.Name, c.Value, c.AverageValue, c.AverageUtilization)
		}
	}
}

func sendScaling(s sink, f family, name string, value, average *resource.Quantity, utilization *int32) {
	if value != nil {
		s.send(f, float64(value.MilliValue())/1000, name, "value")
	}
	if average != nil {
		s.send(f, float64(average.MilliValue())/1000, name, "average")
	}
	if utilization != nil {
		s.send(f, float64(*utilization), name, "utilization")
	}
}

var budgetNumbers = []number[*policyv1.PodDisruptionBudget]{
	{budgetScope.gauge("kube_poddisruptionbudget_created", "When a disruption budget was created, in Unix seconds."),
		func(b *policyv1.PodDisruptionBudget) (float64, bool) { return moment(&b.CreationTimestamp) }},
	{budgetScope.gauge("kube_poddisruptionbudget_status_current_healthy", "The healthy pods of a disruption budget."),
		func(b *policyv1.PodDisruptionBudget) (float64, bool) { return count(b.Status.CurrentHealthy) }},
	{budgetScope.gauge("kube_poddisruptionbudget_status_desired_healthy", "The pods of a disruption budget that must stay healthy."),
		func(b *policyv1.PodDisruptionBudget) (float64, bool) { return count(b.Status.DesiredHealthy) }},
	{budgetScope.gauge("kube_poddisruptionbudget_status_pod_disruptions_allowed", "The pods that may be disrupted now."),
		func(b *policyv1.PodDisruptionBudget) (float64, bool) { return count(b.Status.DisruptionsAllowed) }},
	{budgetScope.gauge("kube_poddisruptionbudget_status_expected_pods", "The pods that a disruption budget counts."),
		func(b *policyv1.PodDisruptionBudget) (float64, bool) { return count(b.Status.ExpectedPods) }},
	{budgetScope.gauge("kube_poddisruptionbudget_status_observed_generation", "The generation that the controller has acted on."),
		func(b *policyv1.PodDisruptionBudget) (float64, bool) { return count(b.Status.ObservedGeneration) }},
}

func collectBudget(out chan<- prometheus.Metric, b *policyv1.PodDisruptionBudget) {
	sendNumbers(sink{out: out, id: []string{b.Namespace, b.Name}}, b, budgetNumbers)
}
