package networkpolicy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	// DropsNamespace and DropsName are where it is noted how many packets each policy's isolation has dropped: in the
	// data of a ConfigMap, by NAMESPACE.POLICY. No policy itself says whether it is enforced.
	DropsNamespace = "kube-system"
	DropsName      = "network-policy-drops"

	// interval is how often the counters are read while there are policies.
	interval = time.Second
)

// blame says which policies isolate the pods of each counter.
func blame(state State) map[string][]string {
	known := survey(state)
	found := map[string][]string{}
	for _, each := range slices.Concat(known.chains(egress), known.chains(ingress)) {
		found[each.name] = each.by
	}
	return found
}

// tally adds up what has been dropped by policy. The kernel counts from zero whenever a ruleset is put in force.
type tally struct {
	total map[string]uint64
	last  map[string]uint64
}

func newTally() *tally { return &tally{map[string]uint64{}, map[string]uint64{}} }

// add takes the counters as they are now, and forgets policies that are gone.
func (t *tally) add(counters map[string]uint64, by map[string][]string) {
	for name, packets := range counters {
		more := packets
		if before := t.last[name]; packets >= before {
			more = packets - before
		}
		for _, policy := range by[name] {
			t.total[policy] += more
		}
	}
	t.last = counters
	present := map[string]bool{}
	for _, policies := range by {
		for _, policy := range policies {
			present[policy] = true
			t.total[policy] += 0
		}
	}
	maps.DeleteFunc(t.total, func(policy string, _ uint64) bool { return !present[policy] })
}

func (t *tally) data() map[string]string {
	found := map[string]string{}
	for policy, packets := range t.total {
		found[policy] = strconv.FormatUint(packets, 10)
	}
	return found
}

// Counters reads what nft has counted, by the counter's name.
func Counters(ctx context.Context) (map[string]uint64, error) {
	said, err := exec.CommandContext(ctx, "nft", "--json", "list", "counters", "table", "ip", Table).Output()
	if err != nil {
		return nil, fmt.Errorf("nft doesn't say what it has counted: %w", err)
	}
	return parseCounters(said)
}

func parseCounters(said []byte) (map[string]uint64, error) {
	var listed struct {
		Nftables []struct {
			Counter *struct {
				Name    string `json:"name"`
				Packets uint64 `json:"packets"`
			} `json:"counter"`
		} `json:"nftables"`
	}
	if err := json.Unmarshal(said, &listed); err != nil {
		return nil, err
	}
	found := map[string]uint64{}
	for _, each := range listed.Nftables {
		if each.Counter != nil {
			found[each.Counter.Name] = each.Counter.Packets
		}
	}
	return found, nil
}

// noteDrops keeps the ConfigMap as the tally is, as long as there is something to count.
func noteDrops(
	ctx context.Context, client kubernetes.Interface, state func() State,
	counters func(context.Context) (map[string]uint64, error), tick <-chan time.Time,
) {
	sum := newTally()
	// At first, what an earlier process has noted may still be there.
	var noted map[string]string
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		by := blame(state())
		if len(by) == 0 && noted != nil && len(noted) == 0 {
			continue
		}
		counted := map[string]uint64{}
		if len(by) > 0 {
			var err error
			if counted, err = counters(ctx); err != nil {
				// The ruleset isn't in force yet, or is being replaced: the next look will do.
				continue
			}
		}
		sum.add(counted, by)
		data := sum.data()
		if noted != nil && maps.Equal(data, noted) {
			continue
		}
		if err := write(ctx, client, data); err != nil {
			if ctx.Err() == nil {
				fmt.Fprintf(os.Stderr, "dropped packets can't be noted: %v\n", err)
			}
			continue
		}
		noted = data
	}
}

func write(ctx context.Context, client kubernetes.Interface, data map[string]string) error {
	configMaps := client.CoreV1().ConfigMaps(DropsNamespace)
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/data", "value": data}})
	if err != nil {
		return err
	}
	_, err = configMaps.Patch(ctx, DropsName, types.JSONPatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: DropsName}, Data: data}
	_, err = configMaps.Create(ctx, made, metav1.CreateOptions{})
	return err
}
