// Package edgedelay makes the TCP packets that some pods send to some others late.
//
// What is wanted stands in labelled ConfigMaps, and what happens is noted in their annotations. Only connections that
// a `from` pod opens to a `to` pod are meant, and of them only what the `from` pod sends: each round trip takes the
// delay longer once. A rule in the kernel hands just these packets over a queue to this process, which gives them back
// when their time has come. Without this process they pass at once.
package edgedelay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// Namespace is where the ConfigMaps are.
	Namespace = "kube-system"
	// Selector picks them.
	Selector = "node-network.kubernetes.io/kind=delay"

	// longest is far less than what makes TCP give up, and more than any time-out worth testing.
	longest = 60_000
)

// Delay is what one ConfigMap wants.
type Delay struct {
	Name                       string
	UID                        types.UID
	FromNamespace, ToNamespace string
	From, To                   labels.Selector
	// Port is the one that the `to` pods listen on; zero is any.
	Port uint16
	// Each packet is late by a time between Delay-Jitter and Delay+Jitter.
	Delay, Jitter time.Duration
	// Seed makes the same jitter of the same ConfigMap.
	Seed uint64
}

var keys = map[string]bool{ // whether it's needed
	"from_namespace":      true,
	"from_selector":       true,
	"to_namespace":        true,
	"to_selector":         true,
	"delay_milliseconds":  true,
	"jitter_milliseconds": false,
	"port":                false,
	"seed":                false,
}

// Parse reads a ConfigMap. The error is for whoever wrote it.
func Parse(wanted *corev1.ConfigMap) (Delay, error) {
	data := wanted.Data
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if _, known := keys[key]; !known {
			return Delay{}, fmt.Errorf("%s: there is no such key", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if _, given := data[key]; keys[key] && !given {
			return Delay{}, fmt.Errorf("%s: missing", key)
		}
	}
	found := Delay{
		Name:          wanted.Name,
		UID:           wanted.UID,
		FromNamespace: data["from_namespace"],
		ToNamespace:   data["to_namespace"],
		Seed:          fingerprint(wanted.Name),
	}
	var err error
	if found.From, err = labels.Parse(data["from_selector"]); err != nil {
		return Delay{}, fmt.Errorf("from_selector: %w", err)
	}
	if found.To, err = labels.Parse(data["to_selector"]); err != nil {
		return Delay{}, fmt.Errorf("to_selector: %w", err)
	}
	delay, err := number(data, "delay_milliseconds", 1, longest)
	if err != nil {
		return Delay{}, err
	}
	jitter, err := number(data, "jitter_milliseconds", 0, delay)
	if err != nil {
		return Delay{}, err
	}
	port, err := number(data, "port", 1, 65535)
	if err != nil {
		return Delay{}, err
	}
	if text, given := data["seed"]; given {
		if found.Seed, err = strconv.ParseUint(strings.TrimSpace(text), 10, 64); err != nil {
			return Delay{}, fmt.Errorf("seed: %q is no whole number from 0 to 18446744073709551615", text)
		}
	}
	found.Delay = time.Duration(delay) * time.Millisecond
	found.Jitter = time.Duration(jitter) * time.Millisecond
	found.Port = uint16(port)
	return found, nil
}

// number reads a whole number; zero if there is none.
func number(data map[string]string, key string, least, most int) (int, error) {
	text, given := data[key]
	if !given {
		return 0, nil
	}
	value, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || value < least || value > most {
		return 0, fmt.Errorf("%s: %q is no whole number from %d to %d", key, text, least, most)
	}
	return value, nil
}

// same tells whether two are the same wish.
func (d Delay) same(other Delay) bool {
	return d.Name == other.Name && d.UID == other.UID && d.FromNamespace == other.FromNamespace &&
		d.ToNamespace == other.ToNamespace && d.From.String() == other.From.String() &&
		d.To.String() == other.To.String() && d.Port == other.Port && d.Delay == other.Delay &&
		d.Jitter == other.Jitter && d.Seed == other.Seed
}
