// Package following is what the components that act on the cluster's objects have in common.
package following

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Factory makes informers whose objects lack the largest part that nobody here reads.
func Factory(client kubernetes.Interface, options ...informers.SharedInformerOption) informers.SharedInformerFactory {
	slim := informers.WithTransform(func(object any) (any, error) {
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	})
	return informers.NewSharedInformerFactoryWithOptions(client, 0, append(options, slim)...)
}

// Start runs informers until ctx ends and waits until they know what there is. The channel then gets something after
// every change, but once for many that nobody has asked for in between.
func Start(ctx context.Context, followed ...cache.SharedIndexInformer) (<-chan struct{}, error) {
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
	synced := make([]cache.InformerSynced, len(followed))
	for index, informer := range followed {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
		synced[index] = informer.HasSynced
		go informer.RunWithContext(ctx)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil, errors.New("stopped before the cluster's objects were listed")
	}
	return changed, nil
}

// Listed are the objects that an informer knows of now, in no order.
func Listed[T any](informer cache.SharedIndexInformer) []T {
	var found []T
	for _, object := range informer.GetStore().List() {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}
