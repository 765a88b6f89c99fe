// Command node is every program of an embedded Kubernetes node in one binary.
//
// The first argument (or the name the binary was called by) picks the
// component; the rest is handed to that component unchanged, so the flags are
// exactly those of the upstream documentation.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/coredns/coredns/coremain"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func command(build func() *cobra.Command) func([]string) int {
	return func(args []string) int {
		os.Args = args
		return cli.Run(build())
	}
}

var components = map[string]func(args []string) int{
	"etcd": func(args []string) int {
		etcdmain.Main(args)
		return 0
	},
	"kube-apiserver":          command(apiserver.NewAPIServerCommand),
	"kube-controller-manager": command(controllers.NewControllerManagerCommand),
	"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":              command(proxy.NewProxyCommand),
	// The kubelet sets up the signal context itself; a second one panics.
	"kubelet": command(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"coredns": func(args []string) int {
		os.Args = args
		coremain.Run()
		return 0
	},
	"edge-delay":     edgeDelay,
	"network-policy": networkPolicy,
	"object-metrics": objectMetrics,
	"pod-targets":    podTargets,
	"version": func([]string) int {
		fmt.Println(version.Get().GitVersion)
		return 0
	},
}

func main() {
	args := os.Args
	name := filepath.Base(args[0])
	if _, known := components[name]; !known && len(args) > 1 {
		args = args[1:]
		name = args[0]
	}
	run, known := components[name]
	if !known {
		names := make([]string, 0, len(components))
		for n := range components {
			names = append(names, n)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "node: no component %q; there are: %s\n", name, strings.Join(names, ", "))
		os.Exit(2)
	}
	os.Exit(run(args))
}
