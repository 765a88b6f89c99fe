package main

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines takes what a service logs.
type lines struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *lines) Write(data []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(data)
}

// find gives the first entry of a level. An entry is written after the answer was sent, so it may still be on its way.
func (l *lines) find(t *testing.T, level string) map[string]any {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		l.mutex.Lock()
		text := l.text.String()
		l.mutex.Unlock()
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var entry map[string]any
			if json.Unmarshal([]byte(line), &entry) == nil && entry["level"] == level {
				return entry
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing was logged at %s: %s", level, text)
		}
		time.Sleep(time.Millisecond)
	}
}
