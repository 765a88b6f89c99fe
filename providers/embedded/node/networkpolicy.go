package main

import (
	"context"

	"itbc/node/internal/networkpolicy"

	"k8s.io/client-go/kubernetes"
)

// networkPolicy enforces the cluster's NetworkPolicies in its network namespace until it gets SIGTERM or SIGINT.
func networkPolicy(args []string) int {
	return component{
		rights: "may list and watch pods, namespaces and network policies",
		run: func(ctx context.Context, client kubernetes.Interface) error {
			return networkpolicy.Enforce(ctx, client, networkpolicy.Apply, networkpolicy.Counters)
		},
	}.main(args)
}
