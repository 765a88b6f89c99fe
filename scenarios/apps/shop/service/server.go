package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// A failure is an error with the status that the caller is to get for it.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(status int, err error) error { return &failure{status: status, err: err} }

// An endpoint answers a request; what it returns is sent as JSON, an error as the status it carries (500 without one).
type endpoint func(r *http.Request) (any, error)

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := e(r)
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		if known := (*failure)(nil); errors.As(err, &known) {
			status = known.status
		}
		answer = map[string]string{"error": err.Error()}
		if seen, ok := w.(*observed); ok {
			seen.err = err
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The caller may be gone; its loss shows in its own logs.
	_ = json.NewEncoder(w).Encode(answer)
}

func readJSON(r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 64<<10))
	if err := decoder.Decode(into); err != nil {
		return fail(http.StatusBadRequest, errors.New("the body isn't the JSON expected: "+err.Error()))
	}
	return nil
}

// observed remembers what was answered, for the log and the metrics.
type observed struct {
	http.ResponseWriter
	status int
	err    error
}

func (o *observed) WriteHeader(status int) {
	o.status = status
	o.ResponseWriter.WriteHeader(status)
}

// observe counts, times and logs every request that reaches the routes of a service.
func observe(next http.Handler, p *parts) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		id := r.Header.Get(requestIDHeader)
		if id == "" {
			id = newID()
		}
		w.Header().Set(requestIDHeader, id)
		seen := &observed{ResponseWriter: w, status: http.StatusOK}
		request := r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		next.ServeHTTP(seen, request)
		// Whoever is outside of this wants to know the route too.
		r.Pattern = request.Pattern
		took := time.Since(started)
		route := routeOf(request)
		p.metrics.requests.WithLabelValues(r.Method, route, strconv.Itoa(seen.status)).Inc()
		p.metrics.durations.WithLabelValues(r.Method, route).Observe(took.Seconds())
		level := slog.LevelInfo
		attributes := []slog.Attr{
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", seen.status),
			slog.Float64("duration", took.Seconds()), slog.String("request_id", id),
		}
		if trace := noteError(request, seen.err); trace != "" {
			attributes = append(attributes, slog.String("trace_id", trace))
		}
		if seen.err != nil {
			level = slog.LevelWarn
			if seen.status >= http.StatusInternalServerError {
				level = slog.LevelError
			}
			attributes = append(attributes, slog.String("error", seen.err.Error()))
		}
		p.log.LogAttrs(request.Context(), level, "request", attributes...)
	})
}

// routeOf is the path pattern that a request matched: few values, whatever the callers ask for.
func routeOf(r *http.Request) string {
	_, path, found := strings.Cut(r.Pattern, " ")
	if !found {
		return "other"
	}
	return strings.TrimSuffix(path, "{$}")
}

// draining says that a service is about to end and takes no new callers.
type draining struct{ atomic.Bool }

// withProbes adds what a cluster asks a service for. Neither probe looks at other services: those being down makes
// requests fail, not this process.
func withProbes(routes http.Handler, p *parts, stopping *draining) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if stopping.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.Handle("GET /metrics", p.metrics.handler())
	mux.Handle("/", traced(observe(routes, p)))
	return mux
}

// patience is how long a service goes on answering after it was told to stop, and how old its connections become.
type patience struct{ drain, connections time.Duration }

type openedKey struct{}

// withAge has callers open a new connection when theirs has become old, as they would otherwise keep to one pod
// whatever the Service in between has become.
func withAge(next http.Handler, age time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opened, known := r.Context().Value(openedKey{}).(time.Time); known && time.Since(opened) > age {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// serve answers requests until ctx ends. Then it says that it is no longer ready, goes on answering for the drain time,
// so that nobody is refused who hasn't heard of it yet, and ends when the last request is answered.
func serve(ctx context.Context, address string, routes http.Handler, p *parts, wait patience) error {
	var stopping draining
	server := &http.Server{
		Handler:           withAge(withProbes(routes, p, &stopping), wait.connections),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       60 * time.Second,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, openedKey{}, time.Now())
		},
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		p.log.Error("can't listen", "error", err.Error())
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	p.log.Info("listening", "address", listener.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	p.log.Info("stopping")
	stopping.Store(true)
	server.SetKeepAlivesEnabled(false)
	select {
	case err := <-failed:
		return err
	case <-time.After(wait.drain):
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// A request that takes this long, or a connection that a caller opened and never used.
	p.log.Warn("closing connections that are still open")
	return server.Close()
}
