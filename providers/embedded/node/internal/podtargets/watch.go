package podtargets

import (
	"context"
	"reflect"
	"time"

	"itbc/node/internal/following"

	corev1 "k8s.io/api/core/v1"
	clientinformers "k8s.io/client-go/informers"
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
	informers := make([]cache.SharedIndexInformer, len(namespaces))
	for index, namespace := range namespaces {
		factory := following.Factory(client, clientinformers.WithNamespace(namespace))
		informers[index] = factory.Core().V1().Pods().Informer()
	}
	changed, err := following.Start(ctx, informers...)
	if err != nil {
		return err
	}
	return keep(ctx, informers, changed, path)
}

func keep(ctx context.Context, informers []cache.SharedIndexInformer, changed <-chan struct{}, path string) error {
	var written []Group
	for {
		groups := Groups(pods(informers))
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

func pods(informers []cache.SharedIndexInformer) []*corev1.Pod {
	var found []*corev1.Pod
	for _, informer := range informers {
		found = append(found, following.Listed[*corev1.Pod](informer)...)
	}
	return found
}
