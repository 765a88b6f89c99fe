// Package objectmetrics turns the objects of a Kubernetes cluster into Prometheus metrics.
//
// Names, labels and types are those of kube-state-metrics, so that rules and
// dashboards written for it work unchanged. Labels and annotations of objects
// are not exported, as is its default.
package objectmetrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// An Exporter keeps a copy of the cluster's objects up to date and renders it whenever it is asked.
type Exporter struct {
	factory informers.SharedInformerFactory
	kinds   []func(chan<- prometheus.Metric)
	synced  atomic.Bool
}

// New makes an exporter; Run must be called before it has anything to tell.
func New(client kubernetes.Interface) *Exporter {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutBallast))
	core, apps := factory.Core().V1(), factory.Apps().V1()
	e := &Exporter{factory: factory}
	e.kinds = []func(chan<- prometheus.Metric){
		each(core.Pods().Informer(), collectPod),
		each(core.Nodes().Informer(), collectNode),
		each(core.Namespaces().Informer(), collectNamespace),
		each(core.ResourceQuotas().Informer(), collectQuota),
		each(core.ConfigMaps().Informer(), collectConfigMap),
		each(core.Services().Informer(), collectService),
		each(core.Endpoints().Informer(), collectEndpoints),
		each(core.PersistentVolumes().Informer(), collectVolume),
		each(core.PersistentVolumeClaims().Informer(), collectVolumeClaim),
		each(apps.Deployments().Informer(), collectDeployment),
		each(apps.ReplicaSets().Informer(), collectReplicaSet),
		each(apps.StatefulSets().Informer(), collectStatefulSet),
		each(apps.DaemonSets().Informer(), collectDaemonSet),
		each(factory.Batch().V1().Jobs().Informer(), collectJob),
		each(factory.Batch().V1().CronJobs().Informer(), collectCronJob),
		each(factory.Discovery().V1().EndpointSlices().Informer(), collectEndpointSlice),
		each(factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(), collectAutoscaler),
		each(factory.Policy().V1().PodDisruptionBudgets().Informer(), collectBudget),
	}
	return e
}

// each renders every known object of a kind.
func each[T any](informer cache.SharedIndexInformer, collect func(chan<- prometheus.Metric, T)) func(chan<- prometheus.Metric) {
	return func(out chan<- prometheus.Metric) {
		for _, object := range informer.GetStore().List() {
			if known, ok := object.(T); ok {
				collect(out, known)
			}
		}
	}
}

// withoutBallast drops the largest part of an object that no metric is made from.
func withoutBallast(object any) (any, error) {
	if known, ok := object.(metav1.Object); ok {
		known.SetManagedFields(nil)
	}
	return object, nil
}

// Run watches the cluster until ctx ends. It returns an error if ctx ends before all kinds were listed once.
func (e *Exporter) Run(ctx context.Context) error {
	e.factory.Start(ctx.Done())
	defer e.factory.Shutdown()
	for kind, done := range e.factory.WaitForCacheSync(ctx.Done()) {
		if !done {
			return fmt.Errorf("stopped before the %s were listed", kind)
		}
	}
	e.synced.Store(true)
	<-ctx.Done()
	return nil
}

// Describe implements prometheus.Collector.
func (e *Exporter) Describe(out chan<- *prometheus.Desc) {
	for _, description := range descriptions {
		out <- description
	}
}

// Collect implements prometheus.Collector.
func (e *Exporter) Collect(out chan<- prometheus.Metric) {
	for _, collect := range e.kinds {
		collect(out)
	}
}

// Handler serves /metrics and /healthz. Both answer 503 until every kind was listed once: half a picture would look
// like missing objects.
func (e *Exporter) Handler() (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(e); err != nil {
		return nil, errors.Join(errors.New("the metric families contradict one another"), err)
	}
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", e.whenSynced(metrics))
	mux.Handle("GET /healthz", e.whenSynced(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})))
	return mux, nil
}

func (e *Exporter) whenSynced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.synced.Load() {
			http.Error(w, "the objects of the cluster aren't all listed yet", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}
