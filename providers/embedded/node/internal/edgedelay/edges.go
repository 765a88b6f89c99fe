package edgedelay

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	// Chain is the chain of iptables' table mangle that holds the rules; it is there only while there are some.
	Chain = "NODE-NETWORK"
	// Queue is the number of the kernel's queue. Nobody else in the node uses any.
	Queue = 1
)

// Edge is which packets: from an address to another one, and to a port of it or (zero) any.
type Edge struct {
	Source, Destination netip.Addr
	Port                uint16
}

func (e Edge) compare(other Edge) int {
	if order := e.Source.Compare(other.Source); order != 0 {
		return order
	}
	if order := e.Destination.Compare(other.Destination); order != 0 {
		return order
	}
	return int(e.Port) - int(other.Port)
}

// Edges are the pairs of pods that a delay is about, in order.
func Edges(delay Delay, pods []*corev1.Pod) []Edge {
	var found []Edge
	for _, source := range addresses(pods, delay.FromNamespace, delay.From) {
		for _, destination := range addresses(pods, delay.ToNamespace, delay.To) {
			// What a pod sends to itself never leaves it.
			if source != destination {
				found = append(found, Edge{source, destination, delay.Port})
			}
		}
	}
	slices.SortFunc(found, Edge.compare)
	return slices.Compact(found)
}

func addresses(pods []*corev1.Pod, namespace string, selector labels.Selector) []netip.Addr {
	var found []netip.Addr
	for _, pod := range pods {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		address, err := netip.ParseAddr(pod.Status.PodIP)
		if pod.Namespace != namespace || pod.Spec.HostNetwork || over || err != nil || !address.Is4() {
			continue
		}
		if selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, address)
		}
	}
	return found
}

// Rules is the input of `iptables-restore --noflush` that fills the chain anew. The same edges give the same text.
func Rules(edges []Edge) string {
	ordered := slices.SortedFunc(slices.Values(edges), Edge.compare)
	var text strings.Builder
	fmt.Fprintf(&text, "*mangle\n:%s - [0:0]\n", Chain)
	for _, edge := range slices.Compact(ordered) {
		fmt.Fprintf(&text, "-A %s -s %s/32 -d %s/32 -p tcp", Chain, edge.Source, edge.Destination)
		if edge.Port != 0 {
			fmt.Fprintf(&text, " -m tcp --dport %d", edge.Port)
		}
		// Without a listener the packets pass.
		fmt.Fprintf(&text, " -m conntrack --ctdir ORIGINAL -j NFQUEUE --queue-num %d --queue-bypass\n", Queue)
	}
	text.WriteString("COMMIT\n")
	return text.String()
}

func fingerprint(text string) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(text))
	return hash.Sum64()
}
