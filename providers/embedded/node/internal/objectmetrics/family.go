package objectmetrics

import (
	"regexp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// descriptions collects every family of this package, for Collector.Describe.
var descriptions []*prometheus.Desc

// A scope is the labels that identify an object of one kind.
type scope []string

// A family is one metric name with its labels: those of its scope, then its own.
type family struct {
	description *prometheus.Desc
	kind        prometheus.ValueType
}

func (s scope) family(kind prometheus.ValueType, name, help string, labels []string) family {
	all := make([]string, 0, len(s)+len(labels))
	all = append(append(all, s...), labels...)
	description := prometheus.NewDesc(name, help, all, nil)
	descriptions = append(descriptions, description)
	return family{description: description, kind: kind}
}

func (s scope) gauge(name, help string, labels ...string) family {
	return s.family(prometheus.GaugeValue, name, help, labels)
}

func (s scope) counter(name, help string, labels ...string) family {
	return s.family(prometheus.CounterValue, name, help, labels)
}

// A sink takes the samples of one object; id is the values of its scope's labels.
type sink struct {
	out chan<- prometheus.Metric
	id  []string
}

func (s sink) send(f family, value float64, labels ...string) {
	all := make([]string, 0, len(s.id)+len(labels))
	all = append(append(all, s.id...), labels...)
	s.out <- prometheus.MustNewConstMetric(f.description, f.kind, value, all...)
}

// A number is a family without labels of its own whose one sample is read off an object, where it is set.
type number[T any] struct {
	family family
	value  func(T) (float64, bool)
}

func sendNumbers[T any](s sink, object T, numbers []number[T]) {
	for _, n := range numbers {
		if value, set := n.value(object); set {
			s.send(n.family, value)
		}
	}
}

type integer interface{ ~int | ~int32 | ~int64 }

func count[N integer](n N) (float64, bool) { return float64(n), true }

func optional[N integer](n *N) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

func flag(b bool) (float64, bool) { return truth(b), true }

// moment gives a time as Unix seconds; an unset time has no sample.
func moment(t *metav1.Time) (float64, bool) {
	if t.IsZero() {
		return 0, false
	}
	return float64(t.Unix()), true
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sendOneOf sends a sample for each possible value of the last label: 1 for the present one, else 0.
func sendOneOf(s sink, f family, present string, possible []string, labels ...string) {
	for _, value := range possible {
		s.send(f, truth(value == present), append(labels[:len(labels):len(labels)], value)...)
	}
}

var threeStates = []string{"true", "false", "unknown"}

// sendCondition sends the three states of a condition, the last label being the state.
func sendCondition[S ~string](s sink, f family, status S, labels ...string) {
	sendOneOf(s, f, strings.ToLower(string(status)), threeStates, labels...)
}

func sendOwners(s sink, f family, owners []metav1.OwnerReference) {
	if len(owners) == 0 {
		s.send(f, 1, "", "", "")
		return
	}
	for _, owner := range owners {
		controls := "false"
		if owner.Controller != nil && *owner.Controller {
			controls = "true"
		}
		s.send(f, 1, owner.Kind, owner.Name, controls)
	}
}

var notInLabel = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// sendResources sends one sample a resource, with the resource's name and unit as the last two labels.
func sendResources(s sink, f family, list corev1.ResourceList, labels ...string) {
	for name, quantity := range list {
		value, unit := float64(quantity.Value()), "integer"
		switch {
		case name == corev1.ResourceCPU:
			value, unit = float64(quantity.MilliValue())/1000, "core"
		case name == corev1.ResourceMemory, name == corev1.ResourceStorage, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix),
			strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix):
			unit = "byte"
		}
		resource := notInLabel.ReplaceAllString(string(name), "_")
		s.send(f, value, append(labels[:len(labels):len(labels)], resource, unit)...)
	}
}
