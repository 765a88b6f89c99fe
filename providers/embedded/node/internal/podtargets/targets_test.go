package podtargets

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func pod(namespace, name, address string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        name,
			Labels:      map[string]string{"app.kubernetes.io/name": "cart"},
			Annotations: map[string]string{"prometheus.io/port": "8080"},
		},
		Status: corev1.PodStatus{
			PodIP:      address,
			Phase:      phase,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}

func TestGroupsAreSortedAndLabelled(t *testing.T) {
	groups := Groups([]*corev1.Pod{
		pod("shop", "b", "10.0.0.2", corev1.PodRunning),
		pod("shop", "a", "10.0.0.1", corev1.PodRunning),
		pod("shop", "waiting", "", corev1.PodPending),
		pod("shop", "over", "10.0.0.3", corev1.PodSucceeded),
	})
	if len(groups) != 2 || groups[0].Targets[0] != "10.0.0.1" || groups[1].Targets[0] != "10.0.0.2" {
		t.Fatalf("unexpected targets: %+v", groups)
	}
	for label, want := range map[string]string{
		"__meta_kubernetes_namespace":                                "shop",
		"__meta_kubernetes_pod_name":                                 "a",
		"__meta_kubernetes_pod_ready":                                "true",
		"__meta_kubernetes_pod_phase":                                "Running",
		"__meta_kubernetes_pod_label_app_kubernetes_io_name":         "cart",
		"__meta_kubernetes_pod_annotation_prometheus_io_port":        "8080",
		"__meta_kubernetes_pod_annotationpresent_prometheus_io_port": "true",
	} {
		if got := groups[0].Labels[label]; got != want {
			t.Errorf("%s is %q, want %q", label, got, want)
		}
	}
}

func TestWatchFollowsThePods(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset(pod("shop", "a", "10.0.0.1", corev1.PodRunning))
	path := filepath.Join(t.TempDir(), "pods.json")
	ended := make(chan error, 1)
	go func() { ended <- Watch(ctx, client, nil, path) }()
	waitForTargets(t, path, 1)
	if _, err := client.CoreV1().Pods("shop").Create(ctx, pod("shop", "b", "10.0.0.2", corev1.PodRunning), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForTargets(t, path, 2)
	if err := client.CoreV1().Pods("shop").Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForTargets(t, path, 1)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func waitForTargets(t *testing.T, path string, want int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		var groups []Group
		content, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(content, &groups) == nil && len(groups) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not %d targets in time: %s", want, content)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
