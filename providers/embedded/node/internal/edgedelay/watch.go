package edgedelay

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
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
	changed := make(chan struct{}, 1)
	note := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { note() },
		UpdateFunc: func(any, any) { note() },
		DeleteFunc: func(any) { note() },
	}
	everywhere := informers.NewSharedInformerFactoryWithOptions(f.client, 0, informers.WithTransform(slim))
	here := informers.NewSharedInformerFactoryWithOptions(f.client, 0, informers.WithNamespace(Namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = Selector }))
	pods := everywhere.Core().V1().Pods().Informer()
	wanted := here.Core().V1().ConfigMaps().Informer()
	for _, informer := range []cache.SharedIndexInformer{pods, wanted} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	for _, factory := range []informers.SharedInformerFactory{everywhere, here} {
		factory.Start(ctx.Done())
		defer factory.Shutdown()
	}
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, wanted.HasSynced) {
		return errors.New("stopped before the cluster's objects were listed")
	}
	controller := newController(f)
	for {
		controller.sync(ctx, listed[*corev1.ConfigMap](wanted), listed[*corev1.Pod](pods))
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

func listed[T any](informer cache.SharedIndexInformer) []T {
	var found []T
	for _, object := range informer.GetStore().List() {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// slim drops the largest part of an object that nobody here reads.
func slim(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}
