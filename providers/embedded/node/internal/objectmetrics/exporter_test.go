package objectmetrics

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
)

// at is the time all fixtures use: 1700000000 in Unix seconds.
var at = metav1.NewTime(time.Unix(1700000000, 0))

func pointer[T any](value T) *T { return &value }

// running starts an exporter on a cluster of these objects and waits until it has seen them all.
func running(t *testing.T, objects ...runtime.Object) *Exporter {
	t.Helper()
	exporter := New(fake.NewClientset(objects...))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- exporter.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	deadline := time.Now().Add(10 * time.Second)
	for !exporter.synced.Load() {
		if time.Now().After(deadline) {
			t.Fatal("the exporter didn't list its objects within 10 s")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return exporter
}

// expect compares the named families with their exposition; HELP lines are taken from the exporter, not repeated here.
func expect(t *testing.T, exporter *Exporter, exposition string, names ...string) {
	t.Helper()
	help := map[string]string{}
	for _, line := range strings.Split(scrape(t, exporter), "\n") {
		if name, found := strings.CutPrefix(line, "# HELP "); found {
			help[strings.Fields(name)[0]] = line
		}
	}
	var full strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(exposition), "\n") {
		line = strings.TrimSpace(line)
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			full.WriteString(help[strings.Fields(name)[0]] + "\n")
		}
		full.WriteString(line + "\n")
	}
	if err := testutil.CollectAndCompare(exporter, strings.NewReader(full.String()), names...); err != nil {
		t.Error(err)
	}
}

func scrape(t *testing.T, exporter *Exporter) string {
	t.Helper()
	handler, err := exporter.Handler()
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("GET /metrics gave %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func TestNothingIsServedBeforeEverythingIsListed(t *testing.T) {
	handler, err := New(fake.NewClientset()).Handler()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/metrics", "/healthz"} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != http.StatusServiceUnavailable {
			t.Errorf("GET %s gave %d, not 503", path, answer.Code)
		}
	}
}

func TestAChangeOfAnObjectIsSeen(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	})
	exporter := New(client)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = exporter.Run(ctx) }()
	waitFor(t, exporter, `kube_namespace_status_phase{namespace="shop",phase="Active"} 1`)
	_, err := client.CoreV1().Namespaces().Update(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating},
	}, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, exporter, `kube_namespace_status_phase{namespace="shop",phase="Terminating"} 1`)
	if err := client.CoreV1().Namespaces().Delete(ctx, "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for strings.Contains(scrape(t, exporter), `namespace="shop"`) {
		if time.Now().After(deadline) {
			t.Fatal("a deleted namespace is still exported after 10 s")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func waitFor(t *testing.T, exporter *Exporter, line string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !exporter.synced.Load() || !strings.Contains(scrape(t, exporter), line+"\n") {
		if time.Now().After(deadline) {
			t.Fatalf("%s isn't exported within 10 s", line)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
