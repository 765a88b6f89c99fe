package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// component is a program that acts on the cluster with the rights of a kubeconfig.
type component struct {
	// rights says what the identity of the kubeconfig is for.
	rights string
	// flags are the component's own; it may have none.
	flags func(*flag.FlagSet)
	run   func(context.Context, kubernetes.Interface) error
}

// main runs the component until it gets SIGTERM or SIGINT, and gives the exit code.
func (c component) main(args []string) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "the kubeconfig `file` of an identity that "+c.rights)
	if c.flags != nil {
		c.flags(flags)
	}
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unknown argument %q\n", flags.Name(), flags.Arg(0))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: the kubeconfig can't be used: %v\n", flags.Name(), err)
		return 1
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	// The metrics of Endpoints are part of the interface, although the API warns that the kind is deprecated.
	config.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: the kubeconfig can't be used: %v\n", flags.Name(), err)
		return 1
	}
	if err := c.run(ctx, client); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", flags.Name(), err)
		return 1
	}
	return 0
}
