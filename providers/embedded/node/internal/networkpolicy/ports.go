package networkpolicy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const lastPort = 65535

// span is a range of ports, both ends included.
type span struct{ first, last int32 }

func (s span) String() string {
	if s.first == s.last {
		return fmt.Sprint(s.first)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

// ports are what a rule allows of the other end: everything, or spans by protocol.
type ports struct {
	any   bool
	spans map[corev1.Protocol][]span
}

func protocol(port *corev1.Protocol) corev1.Protocol {
	if port == nil {
		return corev1.ProtocolTCP
	}
	return *port
}

// numbered are the ports that mean the same everywhere. No ports at all means any.
func numbered(wanted []networkingv1.NetworkPolicyPort) ports {
	found := ports{any: len(wanted) == 0, spans: map[corev1.Protocol][]span{}}
	for _, port := range wanted {
		kind := protocol(port.Protocol)
		switch {
		case port.Port == nil:
			found.spans[kind] = append(found.spans[kind], span{0, lastPort})
		case port.Port.Type == intstr.Int:
			one := span{port.Port.IntVal, port.Port.IntVal}
			if port.EndPort != nil {
				one.last = *port.EndPort
			}
			found.spans[kind] = append(found.spans[kind], one)
		}
	}
	return found
}

// named are the ports that a pod gives the names to.
func named(wanted []networkingv1.NetworkPolicyPort, pod endpoint) ports {
	found := ports{spans: map[corev1.Protocol][]span{}}
	for _, port := range wanted {
		if port.Port == nil || port.Port.Type != intstr.String {
			continue
		}
		kind := protocol(port.Protocol)
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			for _, one := range container.Ports {
				// The API server fills in the protocol.
				if one.Name == port.Port.StrVal && (one.Protocol == kind || one.Protocol == "" && kind == corev1.ProtocolTCP) {
					found.spans[kind] = append(found.spans[kind], span{one.ContainerPort, one.ContainerPort})
				}
			}
		}
	}
	return found
}

func (p ports) add(more ports) {
	for kind, spans := range more.spans {
		p.spans[kind] = append(p.spans[kind], spans...)
	}
}

// conditions are alternatives; an empty one always holds.
func (p ports) conditions() []string {
	if p.any {
		return []string{""}
	}
	var found []string
	for _, kind := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP} {
		spans := merged(p.spans[kind])
		if len(spans) == 0 {
			continue
		}
		condition := "ct original protocol " + strings.ToLower(string(kind))
		if spans[0] != (span{0, lastPort}) {
			condition += " " + oneOf("ct reply proto-src", spans)
		}
		found = append(found, condition)
	}
	return found
}

// merged sorts spans and joins those that overlap, which nft would refuse.
func merged(spans []span) []span {
	var found []span
	for _, one := range slices.SortedFunc(slices.Values(spans), func(a, b span) int { return int(a.first - b.first) }) {
		if count := len(found); count > 0 && one.first <= found[count-1].last+1 {
			found[count-1].last = max(found[count-1].last, one.last)
		} else {
			found = append(found, one)
		}
	}
	return found
}
