package edgedelay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// DelayedPackets counts the packets that have been late on account of a ConfigMap.
	DelayedPackets = "node-network.kubernetes.io/delayed-packets"
	// PodPairs counts the pairs of pods between which packets are late now.
	PodPairs = "node-network.kubernetes.io/pod-pairs"
	// Refused says why nothing is done about a ConfigMap.
	Refused = "node-network.kubernetes.io/refused"
)

// controller brings about what is wanted.
type controller struct {
	*follower
	schedule *schedule
	lines    map[types.UID]*line
	edges    []Edge
	applied  bool
	noted    map[types.UID]note
}

// note is what a ConfigMap's annotations say, and since when.
type note struct {
	annotations map[string]string
	at          time.Time
}

func newController(follower *follower) *controller {
	return &controller{follower: follower, lines: map[types.UID]*line{}, noted: map[types.UID]note{}}
}

// busy tells whether counts may rise.
func (c *controller) busy() bool { return len(c.noted) > 0 }

func (c *controller) sync(ctx context.Context, wanted []*corev1.ConfigMap, pods []*corev1.Pod) {
	slices.SortFunc(wanted, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	report := map[types.UID]map[string]string{}
	lines := map[types.UID]*line{}
	table := map[Edge][]*line{}
	for _, each := range wanted {
		delay, err := Parse(each)
		if err == nil {
			err = c.ready(ctx)
		}
		if err != nil {
			report[each.UID] = map[string]string{Refused: err.Error()}
			continue
		}
		current := c.line(each, delay)
		lines[each.UID] = current
		edges := Edges(delay, pods)
		for _, edge := range edges {
			table[edge] = append(table[edge], current)
		}
		report[each.UID] = map[string]string{
			DelayedPackets: strconv.FormatUint(current.delayed.Load(), 10),
			PodPairs:       strconv.Itoa(len(edges)),
		}
	}
	c.lines = lines
	if c.schedule != nil {
		c.schedule.set(table)
	}
	edges := slices.SortedFunc(maps.Keys(table), Edge.compare)
	if !c.applied || !slices.Equal(edges, c.edges) {
		err := c.apply(ctx, edges)
		c.edges, c.applied = edges, err == nil
		for uid := range lines {
			if err != nil {
				report[uid] = map[string]string{Refused: err.Error()}
			}
		}
	}
	c.report(ctx, wanted, report)
}

// ready opens the queue when it is needed for the first time: a kernel may have none.
func (c *controller) ready(ctx context.Context) error {
	if c.schedule != nil {
		return nil
	}
	made, err := c.listen(ctx)
	c.schedule = made
	return err
}

func (c *controller) line(wanted *corev1.ConfigMap, delay Delay) *line {
	before, known := c.lines[wanted.UID]
	if known && before.delay.same(delay) {
		return before
	}
	var count uint64
	if known {
		count = before.delayed.Load()
	} else if noted, err := strconv.ParseUint(wanted.Annotations[DelayedPackets], 10, 64); err == nil {
		// This process has been started anew: the count goes on.
		count = noted
	}
	return newLine(delay, count)
}

// report notes what has changed since the last note. One that fails is written again with the next one.
func (c *controller) report(ctx context.Context, wanted []*corev1.ConfigMap, report map[types.UID]map[string]string) {
	maps.DeleteFunc(c.noted, func(uid types.UID, _ note) bool { return report[uid] == nil })
	for _, each := range wanted {
		annotations := report[each.UID]
		last, known := c.noted[each.UID]
		if !known {
			last.annotations = ours(each.Annotations)
			c.noted[each.UID] = last
		}
		if maps.Equal(last.annotations, annotations) || time.Since(last.at) < interval {
			continue
		}
		err := c.annotate(ctx, each, annotations)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			// It is gone, or there is another one of this name: that will be heard of.
			continue
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s can't be annotated: %v\n", each.Name, err)
			continue
		}
		c.noted[each.UID] = note{annotations, time.Now()}
	}
}

func ours(annotations map[string]string) map[string]string {
	found := map[string]string{}
	for _, key := range []string{DelayedPackets, PodPairs, Refused} {
		if value, given := annotations[key]; given {
			found[key] = value
		}
	}
	return found
}

func (c *controller) annotate(ctx context.Context, wanted *corev1.ConfigMap, annotations map[string]string) error {
	values := map[string]*string{DelayedPackets: nil, PodPairs: nil, Refused: nil}
	for key, value := range annotations {
		values[key] = &value
	}
	// With the UID, a new ConfigMap of the same name isn't mistaken for this one.
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": wanted.UID, "annotations": values}})
	if err != nil {
		return err
	}
	maps := c.client.CoreV1().ConfigMaps(Namespace)
	_, err = maps.Patch(ctx, wanted.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
