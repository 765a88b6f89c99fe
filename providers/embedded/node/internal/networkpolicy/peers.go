package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// endpoint is a pod with an address of its own.
type endpoint struct {
	*corev1.Pod
	address netip.Addr
}

// endpoints are the pods that policies are about, by address: those on the host's network and those that are over
// have none of their own.
func endpoints(pods []*corev1.Pod) []endpoint {
	owners := map[netip.Addr]*corev1.Pod{}
	for _, pod := range pods {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		address, err := netip.ParseAddr(pod.Status.PodIP)
		if pod.Spec.HostNetwork || over || err != nil || !address.Is4() {
			continue
		}
		// An address can be given anew while its last owner is still being deleted.
		if owner, taken := owners[address]; !taken || younger(pod, owner) {
			owners[address] = pod
		}
	}
	found := make([]endpoint, 0, len(owners))
	for address, pod := range owners {
		found = append(found, endpoint{pod, address})
	}
	slices.SortFunc(found, func(a, b endpoint) int { return a.address.Compare(b.address) })
	return found
}

func younger(a, b *corev1.Pod) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.UID > b.UID
	}
	return b.CreationTimestamp.Before(&a.CreationTimestamp)
}

// peers are the other ends that a rule allows.
type peers struct {
	any       bool
	addresses []netip.Addr
	blocks    []block
}

// block is a range of addresses without some others, which don't overlap.
type block struct {
	prefix netip.Prefix
	except []netip.Prefix
}

func (c *cluster) peers(namespace string, wanted []networkingv1.NetworkPolicyPeer) peers {
	if len(wanted) == 0 {
		return peers{any: true}
	}
	var found peers
	for _, peer := range wanted {
		if peer.IPBlock != nil {
			if one, sound := newBlock(peer.IPBlock); sound {
				found.blocks = append(found.blocks, one)
			}
			continue
		}
		for _, pod := range c.pods {
			if c.selects(namespace, peer, pod) && !slices.Contains(found.addresses, pod.address) {
				found.addresses = append(found.addresses, pod.address)
			}
		}
	}
	slices.SortFunc(found.addresses, netip.Addr.Compare)
	return found
}

func (c *cluster) selects(namespace string, peer networkingv1.NetworkPolicyPeer, pod endpoint) bool {
	if peer.NamespaceSelector == nil {
		if pod.Namespace != namespace {
			return false
		}
	} else if set, known := c.namespaces[pod.Namespace]; !known || !matches(peer.NamespaceSelector, set) {
		return false
	}
	return peer.PodSelector == nil || matches(peer.PodSelector, pod.Labels)
}

// newBlock reads a range. Pods here have IPv4 only, so one of IPv6 allows nothing.
func newBlock(wanted *networkingv1.IPBlock) (block, bool) {
	prefix, err := netip.ParsePrefix(wanted.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return block{}, false
	}
	var except []netip.Prefix
	for _, text := range wanted.Except {
		if one, err := netip.ParsePrefix(text); err == nil && one.Addr().Is4() {
			except = append(except, one.Masked())
		}
	}
	// The wide ones first, so that what lies in one is seen to; nft takes no overlapping ranges.
	slices.SortFunc(except, func(a, b netip.Prefix) int {
		if a.Bits() != b.Bits() {
			return a.Bits() - b.Bits()
		}
		return a.Addr().Compare(b.Addr())
	})
	found := block{prefix: prefix.Masked()}
	for _, one := range except {
		if !slices.ContainsFunc(found.except, one.Overlaps) {
			found.except = append(found.except, one)
		}
	}
	// Something that leaves out all of itself allows nothing.
	return found, !slices.Contains(found.except, found.prefix)
}

func (b block) contain(address netip.Addr) bool {
	return b.prefix.Contains(address) &&
		!slices.ContainsFunc(b.except, func(one netip.Prefix) bool { return one.Contains(address) })
}

func (b block) condition(field string) string {
	var condition string
	if b.prefix.Bits() > 0 {
		condition = fmt.Sprintf("%s %s", field, b.prefix)
	}
	if len(b.except) > 0 {
		if condition != "" {
			condition += " "
		}
		condition += oneOf(field+" !=", b.except)
	}
	return condition
}

func (p peers) contain(address netip.Addr) bool {
	return p.any || slices.Contains(p.addresses, address) ||
		slices.ContainsFunc(p.blocks, func(one block) bool { return one.contain(address) })
}

// conditions are alternatives; an empty one always holds.
func (p peers) conditions(field string) []string {
	if p.any {
		return []string{""}
	}
	var found []string
	if len(p.addresses) > 0 {
		found = append(found, oneOf(field, p.addresses))
	}
	for _, one := range p.blocks {
		found = append(found, one.condition(field))
	}
	return found
}
