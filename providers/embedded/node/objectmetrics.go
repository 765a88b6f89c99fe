package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"itbc/node/internal/objectmetrics"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// objectMetrics serves the state of the cluster's objects as Prometheus metrics until it gets SIGTERM or SIGINT.
func objectMetrics(args []string) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "the kubeconfig `file` of an identity that may list and watch everything")
	listen := flags.String("listen", "127.0.0.1:8080", "the `address` to serve /metrics and /healthz on")
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "object-metrics: unknown argument %q\n", flags.Arg(0))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serveObjectMetrics(ctx, *kubeconfig, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "object-metrics:", err)
		return 1
	}
	return 0
}

func serveObjectMetrics(ctx context.Context, kubeconfig, listen string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("the kubeconfig can't be used: %w", err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	// The metrics of Endpoints are part of the interface, although the API warns that the kind is deprecated.
	config.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("the kubeconfig can't be used: %w", err)
	}
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
