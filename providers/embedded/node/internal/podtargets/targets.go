// Package podtargets tells Prometheus which pods there are, for builds of it
// that cannot ask Kubernetes themselves (Debian's). The file it keeps is for
// file_sd_configs; the labels are those of kubernetes_sd_configs with the role
// pod, so that relabelling rules written for that work unchanged. There is one
// target a pod, with the address but without a port, whatever ports it declares.
package podtargets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const prefix = "__meta_kubernetes_"

var unfit = regexp.MustCompile(`[^a-zA-Z0-9_]`)

// A Group is one entry of a file_sd file.
type Group struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// Groups turns pods into entries, in the order of their names. Pods that have no address yet, or none any more, are left out.
func Groups(pods []*corev1.Pod) []Group {
	groups := []Group{}
	for _, pod := range slices.SortedFunc(slices.Values(pods), byName) {
		if pod.Status.PodIP == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		groups = append(groups, Group{Targets: []string{pod.Status.PodIP}, Labels: labels(pod)})
	}
	return groups
}

func byName(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func labels(pod *corev1.Pod) map[string]string {
	found := map[string]string{
		prefix + "namespace":     pod.Namespace,
		prefix + "pod_name":      pod.Name,
		prefix + "pod_ip":        pod.Status.PodIP,
		prefix + "pod_host_ip":   pod.Status.HostIP,
		prefix + "pod_node_name": pod.Spec.NodeName,
		prefix + "pod_phase":     string(pod.Status.Phase),
		prefix + "pod_ready":     readiness(pod),
		prefix + "pod_uid":       string(pod.UID),
	}
	for _, owner := range pod.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			found[prefix+"pod_controller_kind"] = owner.Kind
			found[prefix+"pod_controller_name"] = owner.Name
		}
	}
	for kind, values := range map[string]map[string]string{"label": pod.Labels, "annotation": pod.Annotations} {
		for name, value := range values {
			fit := unfit.ReplaceAllString(name, "_")
			found[prefix+"pod_"+kind+"_"+fit] = value
			found[prefix+"pod_"+kind+"present_"+fit] = strconv.FormatBool(true)
		}
	}
	return found
}

func readiness(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return string(bytes.ToLower([]byte(condition.Status)))
		}
	}
	return "unknown"
}

// Write replaces the file by one with these entries. A reader sees the old one or the whole new one.
func Write(path string, groups []Group) error {
	content, err := json.MarshalIndent(groups, "", "  ")
	if err != nil {
		return err
	}
	// Prometheus reads every file whose name fits; this one's doesn't until it is whole.
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
	if err := os.WriteFile(part, append(content, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}
