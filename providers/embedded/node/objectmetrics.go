package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"itbc/node/internal/objectmetrics"

	"k8s.io/client-go/kubernetes"
)

// objectMetrics serves the state of the cluster's objects as Prometheus metrics until it gets SIGTERM or SIGINT.
func objectMetrics(args []string) int {
	var listen string
	return component{
		rights: "may list and watch everything",
		flags: func(flags *flag.FlagSet) {
			flags.StringVar(&listen, "listen", "127.0.0.1:8080", "the `address` to serve /metrics and /healthz on")
		},
		run: func(ctx context.Context, client kubernetes.Interface) error {
			return serveObjectMetrics(ctx, client, listen)
		},
	}.main(args)
}

func serveObjectMetrics(ctx context.Context, client kubernetes.Interface, listen string) error {
	exporter := objectmetrics.New(client)
	handler, err := exporter.Handler()
	if err != nil {
		return err
	}
	server := &http.Server{Addr: listen, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		failed <- server.ListenAndServe()
		cancel()
	}()
	if err := exporter.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "object-metrics:", err)
	}
	// A scrape that is cut short is scraped again: there is nothing to wait for.
	closing := server.Close()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return closing
}
