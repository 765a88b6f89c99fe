package objectmetrics

import (
	corev1 "k8s.io/api/core/v1"
)

// containerFamilies are the families of one sort of containers: a pod's own or its init containers.
type containerFamilies struct {
	info, requests, limits                                 family
	ready, restarts, running, waiting, terminated, started family
	waitingReason, terminatedReason                        family
	lastReason, lastExitCode, lastTimestamp                family
}

func newContainerFamilies(prefix, what string) containerFamilies {
	gauge := func(name, help string, labels ...string) family {
		return podScope.gauge(prefix+name, help+" "+what+".", append([]string{"container"}, labels...)...)
	}
	return containerFamilies{
		info:             gauge("_info", "The image and runtime identity of", "image_spec", "image", "image_id", "container_id"),
		requests:         gauge("_resource_requests", "The resources requested by", "node", "resource", "unit"),
		limits:           gauge("_resource_limits", "The resource limits of", "node", "resource", "unit"),
		ready:            gauge("_status_ready", "The readiness of"),
		restarts:         podScope.counter(prefix+"_status_restarts_total", "The restarts of "+what+".", "container"),
		running:          gauge("_status_running", "The running state of"),
		waiting:          gauge("_status_waiting", "The waiting state of"),
		terminated:       gauge("_status_terminated", "The terminated state of"),
		started:          gauge("_state_started", "The start time, in Unix seconds, of"),
		waitingReason:    gauge("_status_waiting_reason", "The reason for the waiting of", "reason"),
		terminatedReason: gauge("_status_terminated_reason", "The reason for the end of", "reason"),
		lastReason:       gauge("_status_last_terminated_reason", "The reason for the previous end of", "reason"),
		lastExitCode:     gauge("_status_last_terminated_exitcode", "The exit code at the previous end of"),
		lastTimestamp:    gauge("_status_last_terminated_timestamp", "The time of the previous end, in Unix seconds, of"),
	}
}

var (
	appContainers  = newContainerFamilies("kube_pod_container", "a container")
	initContainers = newContainerFamilies("kube_pod_init_container", "an init container")
)

func (f containerFamilies) collect(s sink, node string, containers []corev1.Container, statuses []corev1.ContainerStatus) {
	specified := make(map[string]string, len(containers))
	for _, container := range containers {
		specified[container.Name] = container.Image
		sendResources(s, f.requests, container.Resources.Requests, container.Name, node)
		sendResources(s, f.limits, container.Resources.Limits, container.Name, node)
	}
	for _, status := range statuses {
		name, state := status.Name, status.State
		s.send(f.info, 1, name, specified[name], status.Image, status.ImageID, status.ContainerID)
		s.send(f.ready, truth(status.Ready), name)
		s.send(f.restarts, float64(status.RestartCount), name)
		s.send(f.running, truth(state.Running != nil), name)
		s.send(f.waiting, truth(state.Waiting != nil), name)
		s.send(f.terminated, truth(state.Terminated != nil), name)
		switch {
		case state.Waiting != nil:
			s.send(f.waitingReason, 1, name, state.Waiting.Reason)
		case state.Running != nil:
			s.send(f.started, float64(state.Running.StartedAt.Unix()), name)
		case state.Terminated != nil:
			s.send(f.started, float64(state.Terminated.StartedAt.Unix()), name)
			s.send(f.terminatedReason, 1, name, state.Terminated.Reason)
		}
		if last := status.LastTerminationState.Terminated; last != nil {
			s.send(f.lastReason, 1, name, last.Reason)
			s.send(f.lastExitCode, float64(last.ExitCode), name)
			s.send(f.lastTimestamp, float64(last.FinishedAt.Unix()), name)
		}
	}
}
