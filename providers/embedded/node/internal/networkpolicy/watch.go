package networkpolicy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"itbc/node/internal/following"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/kubernetes"
)

// pause is how long after a change the next one is put in force at the earliest: a rollout changes many pods at once.
// The first one waits for nothing.
const pause = 50 * time.Millisecond

// retry is how long after a failure it is tried again, if nothing changes before.
const retry = time.Second

// Enforce keeps the policies in force until ctx ends, and notes what they drop. `apply` is given a ruleset whenever it
// differs from the last; `counters` says what has been dropped since then.
func Enforce(
	ctx context.Context, client kubernetes.Interface, apply func(context.Context, string) error,
	counters func(context.Context) (map[string]uint64, error),
) error {
	factory := following.Factory(client)
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	changed, err := following.Start(ctx, policies, pods, namespaces)
	if err != nil {
		return err
	}
	state := func() State {
		return State{
			Policies:   following.Listed[*networkingv1.NetworkPolicy](policies),
			Pods:       following.Listed[*corev1.Pod](pods),
			Namespaces: following.Listed[*corev1.Namespace](namespaces),
		}
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var noting sync.WaitGroup
	noting.Go(func() { noteDrops(ctx, client, state, counters, ticker.C) })
	keep(ctx, changed, func() string { return Ruleset(state()) }, apply)
	noting.Wait()
	return nil
}

func keep(
	ctx context.Context, changed <-chan struct{}, ruleset func() string, apply func(context.Context, string) error,
) {
	var applied string
	for {
		var again <-chan time.Time
		if text := ruleset(); text != applied {
			if err := apply(ctx, text); err == nil {
				applied = text
			} else if ctx.Err() == nil {
				// What was in force stays in force meanwhile.
				fmt.Fprintln(os.Stderr, err)
				again = time.After(retry)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-again:
		}
	}
}

// Apply has nft put a ruleset in force, all of it or nothing.
func Apply(ctx context.Context, ruleset string) error {
	command := exec.CommandContext(ctx, "nft", "-f", "-")
	command.Stdin = strings.NewReader(ruleset)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("nft refuses the ruleset: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}
