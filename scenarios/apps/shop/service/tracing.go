package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	exportPause   = time.Second
	exportTimeout = 2 * time.Second
)

// startTracing has the spans of this process sent to OTEL_EXPORTER_OTLP_ENDPOINT, over HTTP; without that variable
// there are none. What it returns sends the last ones.
//
// A collector that isn't there costs its spans and nothing else.
func startTracing(s *settings, service string, log *slog.Logger) (func(), error) {
	endpoint := s.text("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	if endpoint == "" {
		return func() {}, nil
	}
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithTimeout(exportTimeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
	if err != nil {
		return nil, fmt.Errorf("traces can't be sent to %s: %w", endpoint, err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter, sdk.WithBatchTimeout(exportPause)),
		sdk.WithResource(resource.NewSchemaless(attributes(service)...)))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Debug("traces", "error", err.Error()) }))
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), exportTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Debug("traces", "error", err.Error())
		}
	}, nil
}

func attributes(service string) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("service.name", service), attribute.String("service.namespace", "shop")}
	if pod, err := os.Hostname(); err == nil {
		all = append(all, attribute.String("k8s.pod.name", pod))
	}
	return all
}

// traced has a span made of every request that is answered.
func traced(next http.Handler) http.Handler {
	return otelhttp.NewHandler(next, "request", otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
		return r.Method + " " + routeOf(r)
	}))
}

// tracedTo has a span made of every request that is sent to a peer, which the peer's own spans belong to.
func tracedTo(peer string, next http.RoundTripper) http.RoundTripper {
	return otelhttp.NewTransport(next, otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
		return r.Method + " " + peer
	}))
}

// noteError has the span of an answered request say what went wrong, if anything did. It returns the trace's id, empty
// where nothing is traced.
func noteError(r *http.Request, err error) string {
	span := trace.SpanFromContext(r.Context())
	if !span.SpanContext().IsValid() {
		return ""
	}
	if err != nil {
		span.RecordError(err)
	}
	return span.SpanContext().TraceID().String()
}
