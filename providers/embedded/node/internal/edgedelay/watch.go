package edgedelay

import (
	"context"
	"time"

	"itbc/node/internal/following"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

const (
	// pause is how long after a change the next one is looked at, at the earliest.
	pause = 50 * time.Millisecond
	// interval is how often the counts are noted, at most.
	interval = time.Second
)

// Run does what the ConfigMaps say until ctx ends.
func Run(ctx context.Context, client kubernetes.Interface) error {
	return (&follower{client: client, listen: listen, apply: Apply}).run(ctx)
}

// follower is what Run does, with the kernel's part handed in.
type follower struct {
	client kubernetes.Interface
	listen func(context.Context) (*schedule, error)
	apply  func(context.Context, []Edge) error
}

func (f *follower) run(ctx context.Context) error {
	pods := following.Factory(f.client).Core().V1().Pods().Informer()
	wanted := following.Factory(f.client, informers.WithNamespace(Namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = Selector }),
	).Core().V1().ConfigMaps().Informer()
	changed, err := following.Start(ctx, pods, wanted)
	if err != nil {
		return err
	}
	controller := newController(f)
	for {
		controller.sync(ctx, following.Listed[*corev1.ConfigMap](wanted), following.Listed[*corev1.Pod](pods))
		if !wait(ctx, time.After(pause), nil) {
			return nil
		}
		var tick <-chan time.Time
		if controller.busy() {
			tick = time.After(interval - pause)
		}
		if !wait(ctx, tick, changed) {
			return nil
		}
	}
}

// wait tells whether something else than the end has come.
func wait(ctx context.Context, tick <-chan time.Time, changed <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-tick:
	case <-changed:
	}
	return true
}
