package networkpolicy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func nothing(context.Context) (map[string]uint64, error) { return map[string]uint64{}, nil }

func TestEachPolicyOfAPodIsBlamed(t *testing.T) {
	by := blame(state(
		policy("deny", networkingv1.NetworkPolicySpec{PodSelector: *app("cart")}),
		policy("also", networkingv1.NetworkPolicySpec{PodSelector: *app("cart")}),
		policy("nobody", networkingv1.NetworkPolicySpec{PodSelector: *app("nobody")}),
	))
	got := by["ingress-10.0.0.2"]
	if len(by) != 1 || len(got) != 2 || got[0] != "shop.also" || got[1] != "shop.deny" {
		t.Fatalf("got %v", by)
	}
}

func TestCountsGoOnWhenTheKernelBeginsAnew(t *testing.T) {
	by := map[string][]string{"ingress-a": {"shop.deny"}, "ingress-b": {"shop.deny", "shop.also"}}
	sum := newTally()
	for _, counters := range []map[string]uint64{
		{"ingress-a": 3, "ingress-b": 1},
		{"ingress-a": 5, "ingress-b": 1},
		{"ingress-a": 2, "ingress-b": 0}, // put in force anew
		{"ingress-b": 4},
	} {
		sum.add(counters, by)
	}
	if got := sum.data(); !maps.Equal(got, map[string]string{"shop.deny": "12", "shop.also": "5"}) {
		t.Fatalf("got %v", got)
	}
	sum.add(map[string]uint64{"ingress-c": 1}, map[string][]string{"ingress-c": {"shop.new"}})
	if got := sum.data(); !maps.Equal(got, map[string]string{"shop.new": "1"}) {
		t.Fatalf("a policy that is gone stays: %v", got)
	}
}

func TestCountersAreReadAsNftWritesThem(t *testing.T) {
	got, err := parseCounters([]byte(`{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"counter":
		{"family": "ip", "name": "ingress-10.0.0.2", "table": "network-policy", "handle": 1, "packets": 7, "bytes": 420}}]}`))
	if err != nil || !maps.Equal(got, map[string]uint64{"ingress-10.0.0.2": 7}) {
		t.Fatalf("got %v, %v", got, err)
	}
	if _, err := parseCounters([]byte("no")); err == nil {
		t.Fatal("what can't be read is no count")
	}
}

func TestDropsAreNotedInAConfigMap(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset()
	now := state(policy("deny", networkingv1.NetworkPolicySpec{PodSelector: *app("cart")}))
	counts := []map[string]uint64{{"ingress-10.0.0.2": 0}, nil, {"ingress-10.0.0.2": 2}}
	counters := func(context.Context) (map[string]uint64, error) {
		next := counts[0]
		counts = counts[1:]
		if next == nil {
			return nil, errors.New("no table")
		}
		return next, nil
	}
	tick := make(chan time.Time)
	ended := make(chan struct{})
	go func() {
		noteDrops(ctx, client, func() State { return now }, counters, tick)
		close(ended)
	}()
	for range 3 {
		tick <- time.Time{}
	}
	deadline := time.Now().Add(10 * time.Second)
	for noted(t, client)["shop.deny"] != "2" {
		if time.Now().After(deadline) {
			t.Fatalf("got %v", noted(t, client))
		}
		time.Sleep(time.Millisecond)
	}
	now = state()
	tick <- time.Time{}
	tick <- time.Time{} // taken only after the one before is done with
	if got := noted(t, client); len(got) != 0 {
		t.Fatalf("a policy that is gone stays: %v", got)
	}
	cancel()
	<-ended
}

func TestWhatAnEarlierProcessHasNotedIsForgotten(t *testing.T) {
	stale := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: DropsNamespace, Name: DropsName}, Data: map[string]string{"shop.deny": "3"},
	}
	for name, client := range map[string]*fake.Clientset{"noted": fake.NewClientset(stale), "nothing noted": fake.NewClientset()} {
		ctx, cancel := context.WithCancel(t.Context())
		tick := make(chan time.Time)
		ended := make(chan struct{})
		go func() {
			noteDrops(ctx, client, func() State { return state() }, nothing, tick)
			close(ended)
		}()
		tick <- time.Time{}
		tick <- time.Time{} // taken only after the one before is done with
		cancel()
		<-ended
		if got := noted(t, client); len(got) != 0 {
			t.Errorf("%s: got %v", name, got)
		}
		if made := slices.ContainsFunc(client.Actions(), func(one clienttesting.Action) bool { return one.GetVerb() == "create" }); made {
			t.Errorf("%s: made a ConfigMap for nothing", name)
		}
	}
}

func noted(t *testing.T, client kubernetes.Interface) map[string]string {
	t.Helper()
	found, err := client.CoreV1().ConfigMaps(DropsNamespace).Get(t.Context(), DropsName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.Data
}
