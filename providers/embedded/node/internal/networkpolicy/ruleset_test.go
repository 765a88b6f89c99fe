package networkpolicy

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
)

func pod(namespace, app, address string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{
			{Name: "web", ContainerPort: 8000 + int32(len(app)), Protocol: corev1.ProtocolTCP},
		}}}},
		Status: corev1.PodStatus{PodIP: address, Phase: corev1.PodRunning},
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
}

func app(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func policy(name string, spec networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: spec}
}

func port(value any, end int32, protocol corev1.Protocol) networkingv1.NetworkPolicyPort {
	var made networkingv1.NetworkPolicyPort
	switch value := value.(type) {
	case int:
		made.Port = new(intstr.FromInt32(int32(value)))
	case string:
		made.Port = new(intstr.FromString(value))
	}
	if end != 0 {
		made.EndPort = &end
	}
	if protocol != "" {
		made.Protocol = &protocol
	}
	return made
}

func state(policies ...*networkingv1.NetworkPolicy) State {
	return State{
		Policies:   policies,
		Pods:       []*corev1.Pod{pod("shop", "cart", "10.0.0.2"), pod("shop", "frontend", "10.0.0.1"), pod("other", "cart", "10.0.0.3")},
		Namespaces: []*corev1.Namespace{namespace("shop"), namespace("other")},
	}
}

// rules are those of a chain, without the first, which lets a pod reach itself, and the last, which drops.
func rules(t *testing.T, ruleset, name string) []string {
	t.Helper()
	_, rest, found := strings.Cut(ruleset, "  chain "+name+" {\n")
	if !found {
		t.Fatalf("no chain %s in\n%s", name, ruleset)
	}
	body, _, _ := strings.Cut(rest, "  }\n")
	lines := strings.Split(strings.TrimSpace(body), "\n")
	for index, line := range lines {
		lines[index] = strings.TrimSpace(line)
	}
	if lines[len(lines)-1] != `counter name "`+name+`" drop` || !strings.HasSuffix(lines[0], " return") {
		t.Fatalf("unexpected frame of %s: %q", name, lines)
	}
	return lines[1 : len(lines)-1]
}

func TestWithoutPoliciesThereIsNoTable(t *testing.T) {
	want := "add table ip network-policy\ndelete table ip network-policy\n"
	if got := Ruleset(state()); got != want {
		t.Fatalf("got\n%s", got)
	}
	elsewhere := policy("nobody", networkingv1.NetworkPolicySpec{PodSelector: *app("nobody")})
	if got := Ruleset(state(elsewhere)); got != want {
		t.Fatalf("got\n%s", got)
	}
}

func TestDenyAllInBothDirections(t *testing.T) {
	got := Ruleset(state(policy("deny", networkingv1.NetworkPolicySpec{
		PodSelector: *app("cart"),
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
	})))
	want := `add table ip network-policy
delete table ip network-policy
table ip network-policy {
  counter egress-10.0.0.2 { }
  counter ingress-10.0.0.2 { }
  chain egress-10.0.0.2 {
    ct reply ip saddr 10.0.0.2 return
    counter name "egress-10.0.0.2" drop
  }
  chain ingress-10.0.0.2 {
    ct original ip saddr 10.0.0.2 return
    counter name "ingress-10.0.0.2" drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    ct state { invalid, untracked } ip saddr { 10.0.0.2 } drop
    ct state { invalid, untracked } ip daddr { 10.0.0.2 } drop
    ct original ip saddr vmap { 10.0.0.2 : jump egress-10.0.0.2 }
    ct reply ip saddr vmap { 10.0.0.2 : jump ingress-10.0.0.2 }
  }
  chain input {
    type filter hook input priority filter; policy accept;
    ct original ip saddr vmap { 10.0.0.2 : jump egress-10.0.0.2 }
  }
}
`
	if got != want {
		t.Fatalf("got\n%s", got)
	}
}

func TestTypesThatAreNotGivenFollowFromTheRules(t *testing.T) {
	only := Ruleset(state(policy("in", networkingv1.NetworkPolicySpec{PodSelector: *app("cart")})))
	if strings.Contains(only, "egress-") || strings.Contains(only, "hook input") || !strings.Contains(only, "ingress-10.0.0.2") {
		t.Fatalf("got\n%s", only)
	}
	both := Ruleset(state(policy("both", networkingv1.NetworkPolicySpec{
		PodSelector: *app("cart"), Egress: []networkingv1.NetworkPolicyEgressRule{{}},
	})))
	if got := rules(t, both, "egress-10.0.0.2"); !slices.Equal(got, []string{"return"}) {
		t.Fatalf("got %q", got)
	}
	if got := rules(t, both, "ingress-10.0.0.2"); len(got) != 0 {
		t.Fatalf("got %q", got)
	}
}

func TestPeers(t *testing.T) {
	everywhere := &metav1.LabelSelector{}
	for name, test := range map[string]struct {
		peers []networkingv1.NetworkPolicyPeer
		want  []string
	}{
		"pods of the policy's own namespace": {
			[]networkingv1.NetworkPolicyPeer{{PodSelector: everywhere}},
			[]string{"ct original ip saddr { 10.0.0.1, 10.0.0.2 } return"},
		},
		"all pods of some namespaces": {
			[]networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "other"}}}},
			[]string{"ct original ip saddr { 10.0.0.3 } return"},
		},
		"some pods of all namespaces": {
			[]networkingv1.NetworkPolicyPeer{{NamespaceSelector: everywhere, PodSelector: app("cart")}},
			[]string{"ct original ip saddr { 10.0.0.2, 10.0.0.3 } return"},
		},
		"either of two": {
			[]networkingv1.NetworkPolicyPeer{{PodSelector: app("frontend")}, {IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}},
			[]string{"ct original ip saddr { 10.0.0.1 } return", "ct original ip saddr 192.0.2.0/24 return"},
		},
		"a block without overlapping others": {
			[]networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{
				CIDR: "10.0.0.0/8", Except: []string{"10.1.2.0/24", "10.2.0.0/16", "10.1.0.0/16"},
			}}},
			[]string{"ct original ip saddr 10.0.0.0/8 ct original ip saddr != { 10.1.0.0/16, 10.2.0.0/16 } return"},
		},
		"the whole world but": {
			[]networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"10.0.0.0/8"}}}},
			[]string{"ct original ip saddr != { 10.0.0.0/8 } return"},
		},
		"the whole world": {
			[]networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0"}}}, []string{"return"},
		},
		"nobody":         {[]networkingv1.NetworkPolicyPeer{{PodSelector: app("nobody")}}, []string{}},
		"IPv6":           {[]networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "::/0"}}}, []string{}},
		"nothing of all": {[]networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.0.0.0/8"}}}}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := networkingv1.NetworkPolicySpec{
				PodSelector: *app("cart"), Ingress: []networkingv1.NetworkPolicyIngressRule{{From: test.peers}},
			}
			if got := rules(t, Ruleset(state(policy("p", spec))), "ingress-10.0.0.2"); !slices.Equal(got, test.want) {
				t.Fatalf("got %q", got)
			}
		})
	}
}

func TestPorts(t *testing.T) {
	for name, test := range map[string]struct {
		ports []networkingv1.NetworkPolicyPort
		want  []string
	}{
		"TCP unless said": {
			[]networkingv1.NetworkPolicyPort{port(80, 0, "")}, []string{"ct original protocol tcp ct reply proto-src { 80 } return"},
		},
		"ranges that overlap are one": {
			[]networkingv1.NetworkPolicyPort{port(8085, 0, "TCP"), port(8080, 8090, "TCP"), port(8091, 0, "TCP"), port(80, 0, "TCP")},
			[]string{"ct original protocol tcp ct reply proto-src { 80, 8080-8091 } return"},
		},
		"a protocol as a whole": {
			[]networkingv1.NetworkPolicyPort{port(nil, 0, "UDP"), port(53, 0, "UDP")}, []string{"ct original protocol udp return"},
		},
		"two protocols": {
			[]networkingv1.NetworkPolicyPort{port(53, 0, "UDP"), port(53, 0, "TCP")},
			[]string{"ct original protocol tcp ct reply proto-src { 53 } return", "ct original protocol udp ct reply proto-src { 53 } return"},
		},
		"names are the pod's": {
			[]networkingv1.NetworkPolicyPort{port("web", 0, "TCP")}, []string{"ct original protocol tcp ct reply proto-src { 8004 } return"},
		},
		"names are of a protocol": {[]networkingv1.NetworkPolicyPort{port("web", 0, "UDP")}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := networkingv1.NetworkPolicySpec{
				PodSelector: *app("cart"), Ingress: []networkingv1.NetworkPolicyIngressRule{{Ports: test.ports}},
			}
			if got := rules(t, Ruleset(state(policy("p", spec))), "ingress-10.0.0.2"); !slices.Equal(got, test.want) {
				t.Fatalf("got %q", got)
			}
		})
	}
}

func TestNamedPortsOfEgressAreThoseOfEachPodAtTheOtherEnd(t *testing.T) {
	spec := networkingv1.NetworkPolicySpec{
		PodSelector: *app("frontend"),
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
		Egress: []networkingv1.NetworkPolicyEgressRule{{
			To:    []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}},
			Ports: []networkingv1.NetworkPolicyPort{port("web", 0, ""), port(53, 0, "UDP")},
		}},
	}
	got := rules(t, Ruleset(state(policy("p", spec))), "egress-10.0.0.1")
	want := []string{
		"ct reply ip saddr { 10.0.0.1, 10.0.0.2 } ct original protocol udp ct reply proto-src { 53 } return",
		"ct reply ip saddr 10.0.0.1 ct original protocol tcp ct reply proto-src { 8008 } return",
		"ct reply ip saddr 10.0.0.2 ct original protocol tcp ct reply proto-src { 8004 } return",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestPoliciesAddUpAndTheirOrderDoesNotMatter(t *testing.T) {
	one := policy("one", networkingv1.NetworkPolicySpec{
		PodSelector: *app("cart"), Ingress: []networkingv1.NetworkPolicyIngressRule{{Ports: []networkingv1.NetworkPolicyPort{port(80, 0, "")}}},
	})
	two := policy("two", networkingv1.NetworkPolicySpec{
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: app("frontend")}}}},
	})
	there := state(one, two)
	back := state(two, one)
	slices.Reverse(back.Pods)
	slices.Reverse(back.Namespaces)
	text := Ruleset(there)
	if other := Ruleset(back); other != text {
		t.Fatalf("got\n%s\nand\n%s", text, other)
	}
	got := rules(t, text, "ingress-10.0.0.2")
	want := []string{"ct original protocol tcp ct reply proto-src { 80 } return", "ct original ip saddr { 10.0.0.1 } return"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestOnlyPodsWithAnAddressOfTheirOwnCount(t *testing.T) {
	there := state(policy("deny", networkingv1.NetworkPolicySpec{}))
	host, over, waiting, successor := pod("shop", "host", "10.9.0.1"), pod("shop", "over", "10.9.0.2"), pod("shop", "waiting", ""), pod("other", "successor", "10.0.0.2")
	host.Spec.HostNetwork = true
	over.Status.Phase = corev1.PodSucceeded
	successor.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
	there.Pods = append(there.Pods, host, over, waiting, successor)
	text := Ruleset(there)
	if strings.Contains(text, "10.9.") || strings.Contains(text, "chain ingress-10.0.0.2") || !strings.Contains(text, "chain ingress-10.0.0.1") {
		t.Fatalf("got\n%s", text)
	}
}

func TestEnforceFollowsTheClusterAndTriesAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset(pod("shop", "cart", "10.0.0.2"), namespace("shop"))
	applied := make(chan string)
	ended := make(chan error, 1)
	tries := 0
	apply := func(ctx context.Context, text string) error {
		if tries++; tries == 1 {
			return context.DeadlineExceeded
		}
		select {
		case applied <- text:
		case <-ctx.Done():
		}
		return nil
	}
	go func() { ended <- Enforce(ctx, client, apply, nothing) }()
	await := func(piece string, there bool) {
		t.Helper()
		deadline := time.After(10 * time.Second)
		for {
			select {
			case text := <-applied:
				if strings.Contains(text, piece) == there {
					return
				}
			case <-deadline:
				t.Fatalf("%q: not %v in time", piece, there)
			}
		}
	}
	await("chain", false)
	deny := policy("deny", networkingv1.NetworkPolicySpec{PodSelector: *app("cart")})
	if _, err := client.NetworkingV1().NetworkPolicies("shop").Create(ctx, deny, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await("chain ingress-10.0.0.2", true)
	if err := client.NetworkingV1().NetworkPolicies("shop").Delete(ctx, "deny", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await("chain", false)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
