package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace/noop"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// received collects what is sent to it as a collector would.
type received struct {
	mutex    sync.Mutex
	services []string
	spans    []*spans.Span
}

func (r *received) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	content, err := io.ReadAll(request.Body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(content, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, each := range sent.ResourceSpans {
		for _, attribute := range each.Resource.Attributes {
			if attribute.Key == "service.name" {
				r.services = append(r.services, attribute.Value.GetStringValue())
			}
		}
		for _, scope := range each.ScopeSpans {
			for _, span := range scope.Spans {
				r.spans = append(r.spans, span)
			}
		}
	}
}

func (r *received) named(t *testing.T, name string) *spans.Span {
	t.Helper()
	for _, each := range r.spans {
		if each.Name == name {
			return each
		}
	}
	t.Fatalf("no span is called %q; there are %v", name, r.spans)
	return nil
}

func TestACallIsOneTraceFromTheCallerToTheCalled(t *testing.T) {
	collected := &received{}
	server := httptest.NewServer(collected)
	defer server.Close()
	log := slog.New(slog.DiscardHandler)
	set := &settings{getenv: func(string) string { return server.URL }}
	flush, err := startTracing(set, "payment", log)
	if err != nil {
		t.Fatal(err)
	}
	defer otel.SetTracerProvider(noop.NewTracerProvider())
	logged := &lines{}
	p := &parts{log: slog.New(slog.NewJSONHandler(logged, nil)), metrics: newMetrics()}
	called := httptest.NewServer(withProbes(mustBuild(t, "payment", p), p, &draining{}))
	defer called.Close()
	toPayment := newPeer(&settings{getenv: func(name string) string {
		return map[string]string{"PAYMENT_ADDR": called.URL}[name]
	}}, p, "payment")
	if err := toPayment.call(context.Background(), http.MethodPost, "/charges", charge{Amount: 100}, nil); err != nil {
		t.Fatal(err)
	}
	line := logged.find(t, "INFO")
	flush()

	client, answer := collected.named(t, "POST payment"), collected.named(t, "POST /charges")
	if !bytes.Equal(client.TraceId, answer.TraceId) || !bytes.Equal(client.SpanId, answer.ParentSpanId) {
		t.Errorf("the answer isn't part of the call: %v, %v", client, answer)
	}
	if !slices.Contains(collected.services, "payment") {
		t.Errorf("the spans are %v's", collected.services)
	}
	if line["trace_id"] == nil {
		t.Errorf("the log doesn't name the trace: %v", line)
	}
}

func mustBuild(t *testing.T, name string, p *parts) http.Handler {
	t.Helper()
	routes, err := roles[name](&settings{getenv: func(string) string { return "" }}, p)
	if err != nil {
		t.Fatal(err)
	}
	return routes
}
