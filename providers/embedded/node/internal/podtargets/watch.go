package podtargets

import (
	"context"
	"errors"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// settle is how long changes are gathered: a rollout changes many pods at once.
const settle = 100 * time.Millisecond

// Watch keeps the file up to date until ctx ends. No namespaces means all.
func Watch(ctx context.Context, client kubernetes.Interface, namespaces []string, path string) error {
	if len(namespaces) == 0 {
		namespaces = []string{corev1.NamespaceAll}
	}
	changed := make(chan struct{}, 1)
	note := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	var stores []cache.Store
	for _, namespace := range namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		informer := factory.Core().V1().Pods().Informer()
		handler := cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { note() },
			UpdateFunc: func(any, any) { note() },
			DeleteFunc: func(any) { note() },
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return errors.New("stopped before the pods were listed")
		}
		stores = append(stores, informer.GetStore())
	}
	return keep(ctx, stores, changed, path)
}

func keep(ctx context.Context, stores []cache.Store, changed <-chan struct{}, path string) error {
	var written []Group
	for {
		groups := Groups(pods(stores))
		if written == nil || !reflect.DeepEqual(groups, written) {
			if err := Write(path, groups); err != nil {
				return err
			}
			written = groups
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(settle):
		}
	}
}

func pods(stores []cache.Store) []*corev1.Pod {
	var found []*corev1.Pod
	for _, store := range stores {
		for _, object := range store.List() {
			if pod, ok := object.(*corev1.Pod); ok {
				found = append(found, pod)
			}
		}
	}
	return found
}
