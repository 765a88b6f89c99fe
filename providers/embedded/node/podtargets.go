package main

import (
	"context"
	"errors"
	"flag"
	"strings"

	"itbc/node/internal/podtargets"

	"k8s.io/client-go/kubernetes"
)

// podTargets keeps a file of the cluster's pods for Prometheus until it gets SIGTERM or SIGINT.
func podTargets(args []string) int {
	var file, namespaces string
	return component{
		rights: "may list and watch pods",
		flags: func(flags *flag.FlagSet) {
			flags.StringVar(&file, "file", "", "the `file` to keep, as file_sd_configs reads it")
			flags.StringVar(&namespaces, "namespaces", "", "where to look for pods, separated by commas; everywhere if empty")
		},
		run: func(ctx context.Context, client kubernetes.Interface) error {
			if file == "" {
				return errors.New("-file is needed")
			}
			fields := strings.FieldsFunc(namespaces, func(char rune) bool { return char == ',' })
			return podtargets.Watch(ctx, client, fields, file)
		},
	}.main(args)
}
