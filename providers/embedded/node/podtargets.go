package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"itbc/node/internal/podtargets"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// podTargets keeps a file of the cluster's pods for Prometheus until it gets SIGTERM or SIGINT.
func podTargets(args []string) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "the kubeconfig `file` of an identity that may list and watch pods")
	file := flags.String("file", "", "the `file` to keep, as file_sd_configs reads it")
	namespaces := flags.String("namespaces", "", "where to look for pods, separated by commas; everywhere if empty")
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || *file == "" {
		fmt.Fprintln(os.Stderr, "pod-targets: -file is needed, and nothing but flags")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pod-targets: the kubeconfig can't be used:", err)
		return 1
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pod-targets: the kubeconfig can't be used:", err)
		return 1
	}
	fields := strings.FieldsFunc(*namespaces, func(char rune) bool { return char == ',' })
	if err := podtargets.Watch(ctx, client, fields, *file); err != nil {
		fmt.Fprintln(os.Stderr, "pod-targets:", err)
		return 1
	}
	return 0
}
