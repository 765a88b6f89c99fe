package objectmetrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

var (
	serviceScope       = scope{"namespace", "service", "uid"}
	endpointScope      = scope{"namespace", "endpoint"}
	endpointSliceScope = scope{"namespace", "endpointslice"}
)

var (
	serviceInfo = serviceScope.gauge("kube_service_info", "How a service is reached.",
		"cluster_ip", "external_name", "external_traffic_policy", "load_balancer_ip")
	serviceCreated    = serviceScope.gauge("kube_service_created", "When a service was created, in Unix seconds.")
	serviceType       = serviceScope.gauge("kube_service_spec_type", "The type of a service.", "type")
	serviceExternalIP = serviceScope.gauge("kube_service_spec_external_ip", "The external IP addresses of a service.", "external_ip")
	serviceIngress    = serviceScope.gauge("kube_service_status_load_balancer_ingress", "The load balancer of a service.", "ip", "hostname")
	servicePorts      = serviceScope.gauge("kube_service_ports", "The ports of a service.",
		"port_name", "port_protocol", "port_number", "port_target", "port_app_protocol", "port_node_number")
)

func collectService(out chan<- prometheus.Metric, v *corev1.Service) {
	s := sink{out: out, id: []string{v.Namespace, v.Name, string(v.UID)}}
	s.send(serviceInfo, 1, v.Spec.ClusterIP, v.Spec.ExternalName, string(v.Spec.ExternalTrafficPolicy), v.Spec.LoadBalancerIP)
	if created, set := moment(&v.CreationTimestamp); set {
		s.send(serviceCreated, created)
	}
	s.send(serviceType, 1, string(v.Spec.Type))
	for _, address := range v.Spec.ExternalIPs {
		s.send(serviceExternalIP, 1, address)
	}
	for _, ingress := range v.Status.LoadBalancer.Ingress {
		s.send(serviceIngress, 1, ingress.IP, ingress.Hostname)
	}
	for _, port := range v.Spec.Ports {
		protocol := ""
		if port.AppProtocol != nil {
			protocol = *port.AppProtocol
		}
		nodePort := ""
		if port.NodePort != 0 {
			nodePort = strconv.Itoa(int(port.NodePort))
		}
		s.send(servicePorts, 1, port.Name, string(port.Protocol), strconv.Itoa(int(port.Port)), port.TargetPort.String(), protocol, nodePort)
	}
}

var (
	endpointInfo    = endpointScope.gauge("kube_endpoint_info", "The endpoints of a service.")
	endpointCreated = endpointScope.gauge("kube_endpoint_created", "When endpoints were created, in Unix seconds.")
	endpointAddress = endpointScope.gauge("kube_endpoint_address", "The addresses of endpoints.", "ip", "ready")
	endpointPorts   = endpointScope.gauge("kube_endpoint_ports", "The ports of endpoints.", "port_name", "port_protocol", "port_number")
)

func collectEndpoints(out chan<- prometheus.Metric, e *corev1.Endpoints) {
	s := sink{out: out, id: []string{e.Namespace, e.Name}}
	s.send(endpointInfo, 1)
	if created, set := moment(&e.CreationTimestamp); set {
		s.send(endpointCreated, created)
	}
	// The same address or port can stand in several subsets; a series may be sent once only.
	type address struct{ ip, ready string }
	type port struct {
		name     string
		protocol corev1.Protocol
		number   int32
	}
	addresses, ports := map[address]bool{}, map[port]bool{}
	for _, subset := range e.Subsets {
		for _, a := range subset.Addresses {
			addresses[address{a.IP, "true"}] = true
		}
		for _, a := range subset.NotReadyAddresses {
			addresses[address{a.IP, "false"}] = true
		}
		for _, p := range subset.Ports {
			ports[port{p.Name, p.Protocol, p.Port}] = true
		}
	}
	for a := range addresses {
		s.send(endpointAddress, 1, a.ip, a.ready)
	}
	for p := range ports {
		s.send(endpointPorts, 1, p.name, string(p.protocol), strconv.Itoa(int(p.number)))
	}
}

var (
	sliceInfo    = endpointSliceScope.gauge("kube_endpointslice_info", "A slice of a service's endpoints.", "addresstype")
	sliceCreated = endpointSliceScope.gauge("kube_endpointslice_created", "When an endpoint slice was created, in Unix seconds.")
	slicePorts   = endpointSliceScope.gauge("kube_endpointslice_ports", "The ports of an endpoint slice.",
		"port_name", "port_protocol", "port_number")
	sliceEndpoints = endpointSliceScope.gauge("kube_endpointslice_endpoints", "The endpoints of an endpoint slice.",
		"address", "ready", "serving", "terminating", "hostname", "targetref_kind", "targetref_name", "targetref_namespace",
		"nodename", "endpoint_zone")
)

func collectEndpointSlice(out chan<- prometheus.Metric, e *discoveryv1.EndpointSlice) {
	s := sink{out: out, id: []string{e.Namespace, e.Name}}
	s.send(sliceInfo, 1, string(e.AddressType))
	if created, set := moment(&e.CreationTimestamp); set {
		s.send(sliceCreated, created)
	}
	for _, port := range e.Ports {
		number := ""
		if port.Port != nil {
			number = strconv.Itoa(int(*port.Port))
		}
		protocol := ""
		if port.Protocol != nil {
			protocol = string(*port.Protocol)
		}
		s.send(slicePorts, 1, text(port.Name), protocol, number)
	}
	for _, endpoint := range e.Endpoints {
		var kind, name, namespace string
		if target := endpoint.TargetRef; target != nil {
			kind, name, namespace = target.Kind, target.Name, target.Namespace
		}
		for _, address := range endpoint.Addresses {
			s.send(sliceEndpoints, 1, address, state(endpoint.Conditions.Ready), state(endpoint.Conditions.Serving),
				state(endpoint.Conditions.Terminating), text(endpoint.Hostname), kind, name, namespace,
				text(endpoint.NodeName), text(endpoint.Zone))
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func state(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}
