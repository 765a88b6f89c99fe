package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A peer is another service that this one calls.
type peer struct {
	name    string
	base    string
	user    string
	secret  string
	client  *http.Client
	metrics *metrics
}

// newPeer takes the peer's address, host:port or a URL, from a variable like PAYMENT_ADDR.
func newPeer(s *settings, p *parts, name string) *peer {
	address := s.required(strings.ToUpper(name) + "_ADDR")
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	timeout := s.duration("REQUEST_TIMEOUT", 2*time.Second)
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: timeout}).DialContext,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     30 * time.Second,
	}
	return &peer{
		name: name, base: strings.TrimSuffix(address, "/"), metrics: p.metrics,
		client: &http.Client{Timeout: timeout, Transport: tracedTo(name, transport)},
	}
}

// answered is an answer of a peer with a status other than 2xx.
type answered struct {
	peer   string
	status int
	text   string
}

func (a *answered) Error() string { return fmt.Sprintf("%s answered %d: %s", a.peer, a.status, a.text) }

// call sends body (nil for none) as JSON and reads the answer into result (nil to drop it).
//
// What it returns carries the status for this service's own caller: 504 when the peer took too long, 502 when it
// can't be reached or failed itself; a refusal (4xx) is passed on. A peer that doesn't let this service in is 502 too.
func (p *peer) call(ctx context.Context, method, path string, body, result any) error {
	var payload io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, payload)
	if err != nil {
		p.metrics.calls.WithLabelValues(p.name, "error").Inc()
		return fail(http.StatusBadGateway, fmt.Errorf("the address of %s can't be used: %w", p.name, err))
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		request.Header.Set(requestIDHeader, id)
	}
	if p.user != "" {
		request.SetBasicAuth(p.user, p.secret)
	}
	response, err := p.client.Do(request)
	if err != nil {
		p.metrics.calls.WithLabelValues(p.name, "error").Inc()
		return fail(statusOf(err), fmt.Errorf("calling %s: %w", p.name, err))
	}
	defer response.Body.Close()
	p.metrics.calls.WithLabelValues(p.name, strconv.Itoa(response.StatusCode)).Inc()
	return p.take(response, result)
}

func (p *peer) take(response *http.Response, result any) error {
	content := io.LimitReader(response.Body, 1<<20)
	status := response.StatusCode
	if status >= 300 {
		refusal := &answered{peer: p.name, status: status, text: reason(content)}
		if status < 400 || status >= 500 || status == http.StatusUnauthorized || status == http.StatusForbidden {
			return fail(http.StatusBadGateway, refusal)
		}
		return fail(status, refusal)
	}
	if result == nil {
		// Read to the end, so that the connection can be used again.
		_, err := io.Copy(io.Discard, content)
		return err
	}
	if err := json.NewDecoder(content).Decode(result); err != nil {
		return fail(http.StatusBadGateway, fmt.Errorf("%s gave an answer that can't be read: %w", p.name, err))
	}
	_, err := io.Copy(io.Discard, content)
	return err
}

// reason is why a peer refused: the error it names, or whatever it says.
func reason(content io.Reader) string {
	text, err := io.ReadAll(content)
	if err != nil {
		return err.Error()
	}
	var named struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(text, &named) == nil && named.Error != "" {
		return named.Error
	}
	return strings.TrimSpace(string(text))
}

func statusOf(err error) int {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
