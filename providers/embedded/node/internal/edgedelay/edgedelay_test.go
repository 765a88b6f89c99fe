package edgedelay

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

func wish(changes map[string]string) *corev1.ConfigMap {
	made := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: "slow", UID: "1",
			Labels: map[string]string{"node-network.kubernetes.io/kind": "delay"},
		},
		Data: map[string]string{
			"from_namespace": "shop", "from_selector": "app=frontend", "to_namespace": "shop", "to_selector": "app in (cart)",
			"delay_milliseconds": "200",
		},
	}
	for key, value := range changes {
		if value == "-" {
			delete(made.Data, key)
		} else {
			made.Data[key] = value
		}
	}
	return made
}

func parsed(t *testing.T, changes map[string]string) Delay {
	t.Helper()
	found, err := Parse(wish(changes))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func pod(namespace, app, address string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app + address, Labels: map[string]string{"app": app}},
		Status:     corev1.PodStatus{PodIP: address, Phase: corev1.PodRunning},
	}
}

func TestParse(t *testing.T) {
	found := parsed(t, map[string]string{"port": "8080", "jitter_milliseconds": "50"})
	if found.Delay != 200*time.Millisecond || found.Jitter != 50*time.Millisecond || found.Port != 8080 || found.Name != "slow" {
		t.Fatalf("got %+v", found)
	}
	if again := parsed(t, map[string]string{"port": "8080", "jitter_milliseconds": "50"}); !found.same(again) {
		t.Fatalf("%+v and %+v differ", found, again)
	}
	if other := parsed(t, map[string]string{"seed": "7"}); other.Seed != 7 || other.same(parsed(t, nil)) {
		t.Fatalf("got %+v", other)
	}
}

func TestWhatIsMalformedIsRefusedWithAReason(t *testing.T) {
	for reason, changes := range map[string]map[string]string{
		"to_namespace: missing":                                       {"to_namespace": "-"},
		"delay_milliseconds: missing":                                 {"delay_milliseconds": "-"},
		`delay_milliseconds: "2s" is no whole number from 1 to 60000`: {"delay_milliseconds": "2s"},
		`delay_milliseconds: "0" is no whole number from 1 to 60000`:  {"delay_milliseconds": "0"},
		`jitter_milliseconds: "201" is no whole number from 0 to 200`: {"jitter_milliseconds": "201"},
		`port: "70000" is no whole number from 1 to 65535`:            {"port": "70000"},
		`seed: "x" is no whole number from 0 to 18446744073709551615`: {"seed": "x"},
		"colour: there is no such key":                                {"colour": "red"},
		"from_selector: ":                                             {"from_selector": "app=("},
		"to_selector: ":                                               {"to_selector": "a b"},
	} {
		if _, err := Parse(wish(changes)); err == nil || !strings.HasPrefix(err.Error(), reason) {
			t.Errorf("%v: got %v, want %s", changes, err, reason)
		}
	}
}

func TestRules(t *testing.T) {
	over, host := pod("shop", "cart", "10.0.0.8"), pod("shop", "cart", "10.0.0.9")
	over.Status.Phase = corev1.PodFailed
	host.Spec.HostNetwork = true
	pods := []*corev1.Pod{
		pod("shop", "cart", "10.0.0.4"), pod("shop", "cart", "10.0.0.3"), pod("shop", "frontend", "10.0.0.1"), pod("other", "cart", "10.0.0.5"),
		pod("shop", "cart", ""), over, host,
	}
	edges := Edges(parsed(t, nil), pods)
	edges = append(edges, Edges(parsed(t, map[string]string{"port": "80"}), pods)...)
	slices.Reverse(edges)
	want := `*mangle
:NODE-NETWORK - [0:0]
-A NODE-NETWORK -s 10.0.0.1/32 -d 10.0.0.3/32 -p tcp -m conntrack --ctdir ORIGINAL -j NFQUEUE --queue-num 1 --queue-bypass
-A NODE-NETWORK -s 10.0.0.1/32 -d 10.0.0.3/32 -p tcp -m tcp --dport 80 -m conntrack --ctdir ORIGINAL -j NFQUEUE --queue-num 1 --queue-bypass
-A NODE-NETWORK -s 10.0.0.1/32 -d 10.0.0.4/32 -p tcp -m conntrack --ctdir ORIGINAL -j NFQUEUE --queue-num 1 --queue-bypass
-A NODE-NETWORK -s 10.0.0.1/32 -d 10.0.0.4/32 -p tcp -m tcp --dport 80 -m conntrack --ctdir ORIGINAL -j NFQUEUE --queue-num 1 --queue-bypass
COMMIT
`
	if got := Rules(edges); got != want {
		t.Fatalf("got\n%s", got)
	}
	if self := Edges(parsed(t, map[string]string{"from_selector": "app=cart"}), pods[:1]); len(self) != 0 {
		t.Fatalf("a pod is late for itself: %v", self)
	}
}

func packet(source, destination netip.AddrPort) []byte {
	made := make([]byte, 44)
	made[0], made[9] = 0x46, protocolTCP // with four bytes of options
	copy(made[12:], source.Addr().AsSlice())
	copy(made[16:], destination.Addr().AsSlice())
	made[24], made[25] = byte(source.Port()>>8), byte(source.Port())
	made[26], made[27] = byte(destination.Port()>>8), byte(destination.Port())
	return made
}

var (
	client = netip.MustParseAddrPort("10.0.0.1:40000")
	server = netip.MustParseAddrPort("10.0.0.3:8080")
	flow   = Flow{client, server}
)

func TestAPacketsAddressesAreRead(t *testing.T) {
	whole := packet(client, server)
	if got, ok := parse(whole); !ok || got != flow {
		t.Fatalf("got %v", got)
	}
	for length := range 28 {
		if _, ok := parse(whole[:length]); ok {
			t.Fatalf("read %d bytes", length)
		}
	}
	whole[9] = 17
	if _, ok := parse(whole); ok {
		t.Fatal("took UDP for TCP")
	}
}

func ids(ready []waiting) []uint32 {
	var found []uint32
	for _, one := range ready {
		found = append(found, one.id)
	}
	return found
}

func TestAPacketGoesWhenItsTimeHasCome(t *testing.T) {
	var released []uint32
	made := newSchedule(func(id uint32) { released = append(released, id) })
	start := time.Unix(1000, 0)
	made.take(1, flow, start)
	if !slices.Equal(released, []uint32{1}) {
		t.Fatalf("a packet that nobody wants late waits: %v", released)
	}
	exact := newLine(parsed(t, nil), 0)
	whole := newLine(parsed(t, map[string]string{"delay_milliseconds": "100"}), 0)
	made.set(map[Edge][]*line{{client.Addr(), server.Addr(), 8080}: {exact}, {client.Addr(), server.Addr(), 0}: {whole}})
	made.take(2, flow, start)
	other := Flow{client, netip.AddrPortFrom(server.Addr(), 9090)}
	made.take(3, other, start.Add(50*time.Millisecond))
	ready, next := made.due(start.Add(149 * time.Millisecond))
	if len(ready) != 0 || !next.Equal(start.Add(150*time.Millisecond)) {
		t.Fatalf("ready %v, next %v", ready, next)
	}
	ready, next = made.due(start.Add(150 * time.Millisecond))
	if !slices.Equal(ids(ready), []uint32{3}) || !next.Equal(start.Add(300*time.Millisecond)) {
		t.Fatalf("ready %v, next %v", ids(ready), next)
	}
	// What waits goes in time, whatever is wanted now.
	made.set(nil)
	ready, next = made.due(start.Add(time.Second))
	if !slices.Equal(ids(ready), []uint32{2}) || !next.IsZero() || len(made.last) != 0 {
		t.Fatalf("ready %v, next %v, remembered %v", ids(ready), next, made.last)
	}
}

func TestJitterIsTheSameAgainAndKeepsTheOrderOfAConnection(t *testing.T) {
	start := time.Unix(1000, 0)
	course := func() (late []time.Duration) {
		made := newSchedule(nil)
		made.set(map[Edge][]*line{{client.Addr(), server.Addr(), 0}: {newLine(parsed(t, map[string]string{"jitter_milliseconds": "150"}), 0)}})
		for id := range 200 {
			made.take(uint32(id), flow, start.Add(time.Duration(id)*time.Millisecond))
		}
		ready, _ := made.due(start.Add(time.Hour))
		for index, one := range ready {
			if one.id != uint32(index) {
				t.Fatalf("packet %d is at place %d", one.id, index)
			}
			late = append(late, one.until.Sub(start.Add(time.Duration(index)*time.Millisecond)))
		}
		return late
	}
	first := course()
	if !slices.Equal(first, course()) {
		t.Fatal("the jitter differs from time to time")
	}
	if least, most := slices.Min(first), slices.Max(first); least < 50*time.Millisecond || most > 350*time.Millisecond || least == most {
		t.Fatalf("late by %v to %v", least, most)
	}
}

func TestRunReleasesInRealTime(t *testing.T) {
	released := make(chan uint32, 1)
	made := newSchedule(func(id uint32) { released <- id })
	one := newLine(parsed(t, map[string]string{"delay_milliseconds": "30"}), 5)
	made.set(map[Edge][]*line{{client.Addr(), server.Addr(), 0}: {one}})
	go made.run(t.Context())
	start := time.Now()
	made.take(9, flow, start)
	select {
	case id := <-released:
		if took := time.Since(start); id != 9 || took < 30*time.Millisecond {
			t.Fatalf("packet %d after %v", id, took)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the packet never goes")
	}
}

// kernel stands for what is tried in a real cluster by the tests there.
type kernel struct {
	mutex    sync.Mutex
	edges    []Edge
	schedule *schedule
	broken   error
}

func (k *kernel) listen(context.Context) (*schedule, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.broken != nil {
		return nil, k.broken
	}
	k.schedule = newSchedule(func(uint32) {})
	return k.schedule, nil
}

func (k *kernel) apply(_ context.Context, edges []Edge) error {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.edges = edges
	return nil
}

func (k *kernel) count() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.edges)
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

func TestTheConfigMapsAreFollowedAndAnnotated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	api := fake.NewClientset(pod("shop", "frontend", "10.0.0.1"), pod("shop", "cart", "10.0.0.3"))
	there := &kernel{}
	ended := make(chan error, 1)
	go func() { ended <- (&follower{client: api, listen: there.listen, apply: there.apply}).run(ctx) }()
	maps := api.CoreV1().ConfigMaps(Namespace)
	wanted := wish(nil)
	// As if another process had counted before.
	wanted.Annotations = map[string]string{DelayedPackets: "41"}
	if _, err := maps.Create(ctx, wanted, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	annotation := func(key string) string {
		found, err := maps.Get(ctx, "slow", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Annotations[key]
	}
	until(t, "the edge", func() bool { return there.count() == 1 })
	until(t, "its annotation", func() bool { return annotation(PodPairs) == "1" && annotation(DelayedPackets) == "41" })
	there.mutex.Lock()
	made := there.schedule
	there.mutex.Unlock()
	go made.run(ctx)
	made.take(1, flow, time.Now().Add(-time.Second))
	until(t, "the count", func() bool { return annotation(DelayedPackets) == strconv.Itoa(42) })
	if _, err := api.CoreV1().Pods("shop").Create(ctx, pod("shop", "cart", "10.0.0.4"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the new pod's edge", func() bool { return there.count() == 2 && annotation(PodPairs) == "2" })
	if _, err := maps.Update(ctx, wish(map[string]string{"port": "http"}), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the refusal", func() bool {
		return there.count() == 0 && annotation(PodPairs) == "" && strings.HasPrefix(annotation(Refused), `port: "http"`)
	})
	if err := maps.Delete(ctx, "slow", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	second := wish(nil)
	second.UID = types.UID("2")
	if _, err := maps.Create(ctx, second, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "a count of its own", func() bool { return there.count() == 2 && annotation(DelayedPackets) == "0" })
	if err := maps.Delete(ctx, "slow", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the edges", func() bool { return there.count() == 0 })
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestAKernelWithoutQueuesIsSaidSo(t *testing.T) {
	api := fake.NewClientset(wish(nil))
	there := &kernel{broken: errors.New("no queue here")}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&follower{client: api, listen: there.listen, apply: there.apply}).run(ctx) }()
	until(t, "the refusal", func() bool {
		found, err := api.CoreV1().ConfigMaps(Namespace).Get(ctx, "slow", metav1.GetOptions{})
		return err == nil && found.Annotations[Refused] == "no queue here"
	})
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
