// Package networkpolicy enforces the NetworkPolicies of a one-node cluster with a table of nftables.
//
// Every rule looks at the connection a packet belongs to, never at the packet's own addresses: who opened it (the
// source of the original direction) and who really answers (the source of the reply direction, which is the pod
// behind a Service). So both directions of a connection get the same verdict, replies need no rule of their own, and
// a policy that forbids a connection also cuts it when it is long established.
package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Table is the nftables table that holds everything; it is there only while a policy isolates a pod.
const Table = "network-policy"

const (
	// opener is the address that a connection was opened from.
	opener = "ct original ip saddr"
	// answerer is the address that a connection really leads to.
	answerer = "ct reply ip saddr"
)

// State is what the verdicts follow from.
type State struct {
	Policies   []*networkingv1.NetworkPolicy
	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
}

// direction is one of the two ways a pod can be isolated in.
type direction struct {
	name string
	kind networkingv1.PolicyType
	// peer is the other end's address, own the isolated pod's.
	peer, own string
}

var (
	egress  = direction{"egress", networkingv1.PolicyTypeEgress, answerer, opener}
	ingress = direction{"ingress", networkingv1.PolicyTypeIngress, opener, answerer}
)

// Ruleset is the input of `nft -f` that puts the state's policies in force, whatever was in force before. The same
// state gives the same text, whatever its order.
func Ruleset(state State) string {
	known := survey(state)
	var text strings.Builder
	// Deleting needs a table that is there.
	fmt.Fprintf(&text, "add table ip %s\ndelete table ip %s\n", Table, Table)
	leaving := known.chains(egress)
	coming := known.chains(ingress)
	if len(leaving)+len(coming) == 0 {
		return text.String()
	}
	fmt.Fprintf(&text, "table ip %s {\n", Table)
	for _, each := range slices.Concat(leaving, coming) {
		fmt.Fprintf(&text, "  counter %s { }\n", each.name)
	}
	for _, each := range slices.Concat(leaving, coming) {
		writeChain(&text, each.name, each.rules)
	}
	hook := func(name string) string { return "type filter hook " + name + " priority filter; policy accept;" }
	forward := []string{hook("forward")}
	// What belongs to no connection has no opener, and so would escape the rules below.
	forward = append(forward, stray("ip saddr", leaving)...)
	forward = append(forward, stray("ip daddr", coming)...)
	forward = append(forward, dispatch(egress, leaving)...)
	forward = append(forward, dispatch(ingress, coming)...)
	writeChain(&text, "forward", forward)
	// From a pod to the node itself, for one the API server. The other way round everything is allowed.
	if len(leaving) > 0 {
		writeChain(&text, "input", append([]string{hook("input")}, dispatch(egress, leaving)...))
	}
	text.WriteString("}\n")
	return text.String()
}

// chain decides about the connections of one isolated pod. What it drops is counted by the counter of its name.
type chain struct {
	name    string
	address netip.Addr
	rules   []string
	// by are the policies that isolate the pod, each as NAMESPACE.NAME.
	by []string
}

func writeChain(text *strings.Builder, name string, rules []string) {
	fmt.Fprintf(text, "  chain %s {\n", name)
	for _, rule := range rules {
		fmt.Fprintf(text, "    %s\n", rule)
	}
	text.WriteString("  }\n")
}

func stray(field string, chains []chain) []string {
	if len(chains) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("ct state { invalid, untracked } %s drop", oneOf(field, addresses(chains)))}
}

func dispatch(way direction, chains []chain) []string {
	if len(chains) == 0 {
		return nil
	}
	jumps := make([]string, len(chains))
	for index, each := range chains {
		jumps[index] = fmt.Sprintf("%s : jump %s", each.address, each.name)
	}
	return []string{fmt.Sprintf("%s vmap { %s }", way.own, strings.Join(jumps, ", "))}
}

func addresses(chains []chain) []netip.Addr {
	found := make([]netip.Addr, len(chains))
	for index, each := range chains {
		found[index] = each.address
	}
	return found
}

// oneOf is the condition that a field is one of some values, which must not overlap.
func oneOf[T any](field string, values []T) string {
	words := make([]string, len(values))
	for index, value := range values {
		words[index] = fmt.Sprint(value)
	}
	return fmt.Sprintf("%s { %s }", field, strings.Join(words, ", "))
}

// survey sorts the state and leaves out what no policy is about.
func survey(state State) *cluster {
	found := &cluster{namespaces: map[string]labels.Set{}}
	for _, namespace := range state.Namespaces {
		found.namespaces[namespace.Name] = namespace.Labels
	}
	found.pods = endpoints(state.Pods)
	found.policies = slices.SortedFunc(slices.Values(state.Policies), func(a, b *networkingv1.NetworkPolicy) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return found
}

// cluster is a State in order.
type cluster struct {
	policies   []*networkingv1.NetworkPolicy
	pods       []endpoint
	namespaces map[string]labels.Set
}

func (c *cluster) chains(way direction) []chain {
	var found []chain
	for _, pod := range c.pods {
		var by []string
		// A pod always reaches itself.
		rules := []string{fmt.Sprintf("%s %s return", way.peer, pod.address)}
		for _, policy := range c.policies {
			if policy.Namespace != pod.Namespace || !governs(policy, way) || !matches(&policy.Spec.PodSelector, pod.Labels) {
				continue
			}
			by = append(by, policy.Namespace+"."+policy.Name)
			for _, rule := range c.allowed(policy, way, pod) {
				if !slices.Contains(rules, rule) {
					rules = append(rules, rule)
				}
			}
		}
		if len(by) > 0 {
			name := way.name + "-" + pod.address.String()
			rules = append(rules, fmt.Sprintf("counter name %q drop", name))
			found = append(found, chain{name, pod.address, rules, by})
		}
	}
	return found
}

// governs tells whether a policy isolates its pods in a direction. The API server fills in the types; the rule for
// those that have none is the same as there.
func governs(policy *networkingv1.NetworkPolicy, way direction) bool {
	if len(policy.Spec.PolicyTypes) == 0 {
		return way.kind == networkingv1.PolicyTypeIngress || len(policy.Spec.Egress) > 0
	}
	return slices.Contains(policy.Spec.PolicyTypes, way.kind)
}

// allowed is what a policy lets a pod do: rules that leave its chain.
func (c *cluster) allowed(policy *networkingv1.NetworkPolicy, way direction, pod endpoint) []string {
	var rules []string
	if way.kind == networkingv1.PolicyTypeIngress {
		for _, rule := range policy.Spec.Ingress {
			others := c.peers(policy.Namespace, rule.From)
			served := numbered(rule.Ports)
			served.add(named(rule.Ports, pod))
			rules = append(rules, combine(others.conditions(way.peer), served.conditions())...)
		}
		return rules
	}
	for _, rule := range policy.Spec.Egress {
		others := c.peers(policy.Namespace, rule.To)
		rules = append(rules, combine(others.conditions(way.peer), numbered(rule.Ports).conditions())...)
		// What a name of a port means, the pod at the other end says.
		for _, other := range c.pods {
			if others.contain(other.address) {
				own := []string{fmt.Sprintf("%s %s", way.peer, other.address)}
				rules = append(rules, combine(own, named(rule.Ports, other).conditions())...)
			}
		}
	}
	return rules
}

func combine(peers, ports []string) []string {
	var rules []string
	for _, peer := range peers {
		for _, port := range ports {
			words := slices.DeleteFunc([]string{peer, port, "return"}, func(word string) bool { return word == "" })
			rules = append(rules, strings.Join(words, " "))
		}
	}
	return rules
}

func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	// The API server takes no selector that can't be read: one that is there all the same selects nothing.
	return err == nil && parsed.Matches(labels.Set(set))
}
