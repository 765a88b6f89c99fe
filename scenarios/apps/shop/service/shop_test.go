package main

import (
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

const products = `[{"id": "mug", "name": "Mug", "price": 900}, {"id": "pen", "name": "Pen", "price": 150}]`

// A running service: its address without a scheme, its parts, and what it has logged.
type service struct {
	address string
	parts   *parts
	logged  *lines
}

// start runs one role with these settings until the test ends.
func start(t *testing.T, name string, environment map[string]string) *service {
	t.Helper()
	logged := &lines{}
	p := &parts{log: slog.New(slog.NewJSONHandler(logged, nil)), metrics: newMetrics()}
	s := &settings{getenv: func(name string) string { return environment[name] }}
	routes, err := roles[name](s, p)
	if err := errors.Join(s.problem(), err); err != nil {
		t.Fatalf("%s doesn't start: %v", name, err)
	}
	server := httptest.NewServer(observe(routes, p))
	t.Cleanup(server.Close)
	return &service{address: strings.TrimPrefix(server.URL, "http://"), parts: p, logged: logged}
}

// nobody is an address that refuses connections.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

type shop struct{ frontend, checkout, catalogue *service }

// startShop runs all services; changed overrides settings of any of them, as SERVICE.VARIABLE.
func startShop(t *testing.T, changed map[string]string) *shop {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "products.json")
	if err := os.WriteFile(file, []byte(products), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(name string, environment map[string]string) *service {
		environment["REQUEST_TIMEOUT"] = "300ms"
		for key, value := range changed {
			if variable, found := strings.CutPrefix(key, name+"."); found {
				environment[variable] = value
			}
		}
		return start(t, name, environment)
	}
	store := with("store", map[string]string{"STORE_USER": "shop", "STORE_PASSWORD": "secret", "DATA_DIR": folder})
	toStore := func(more map[string]string) map[string]string {
		more["STORE_ADDR"], more["STORE_USER"], more["STORE_PASSWORD"] = store.address, "shop", "secret"
		return more
	}
	catalogue := with("catalogue", toStore(map[string]string{"PRODUCTS_FILE": file}))
	orders := with("orders", toStore(map[string]string{}))
	cart := with("cart", map[string]string{})
	payment := with("payment", map[string]string{})
	checkout := with("checkout", map[string]string{"PAYMENT_ADDR": payment.address, "ORDERS_ADDR": "http://" + orders.address})
	frontend := with("frontend", map[string]string{
		"CATALOGUE_ADDR": catalogue.address, "CART_ADDR": cart.address, "CHECKOUT_ADDR": checkout.address})
	return &shop{frontend: frontend, checkout: checkout, catalogue: catalogue}
}

// ask sends a request and gives the status and the body.
func (s *service) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// expect asks and fails the test unless the status is the one given; returns the body.
func (s *service) expect(t *testing.T, status int, method, path, body string) string {
	t.Helper()
	got, text := s.ask(t, method, path, body)
	if got != status {
		t.Fatalf("%s %s gave %d, not %d: %s", method, path, got, status, text)
	}
	return text
}

func (s *shop) fillCart(t *testing.T) {
	t.Helper()
	s.frontend.expect(t, 200, "POST", "/cart/ann/items", `{"product": "mug", "quantity": 2}`)
}

func TestAUserBuysWhatIsInTheCart(t *testing.T) {
	s := startShop(t, nil)
	if text := s.frontend.expect(t, 200, "GET", "/", ""); !strings.Contains(text, "Mug") {
		t.Errorf("the home page doesn't show the products: %s", text)
	}
	s.frontend.expect(t, 200, "GET", "/products/pen", "")
	s.fillCart(t)
	var placed order
	if err := json.Unmarshal([]byte(s.frontend.expect(t, 200, "POST", "/checkout", `{"user": "ann"}`)), &placed); err != nil {
		t.Fatal(err)
	}
	if placed.ID == "" || placed.Charge == "" || len(placed.Items) != 1 || placed.Items[0].Price != 900 {
		t.Errorf("not the order expected: %+v", placed)
	}
	if text := s.frontend.expect(t, 200, "GET", "/cart/ann", ""); strings.TrimSpace(text) != "[]" {
		t.Errorf("the cart isn't empty after buying: %s", text)
	}
	s.frontend.expect(t, 409, "POST", "/checkout", `{"user": "ann"}`)
	s.frontend.expect(t, 404, "GET", "/products/none", "")
	s.frontend.expect(t, 404, "GET", "/nowhere", "")
	s.frontend.expect(t, 400, "POST", "/checkout", `{`)
}

func TestAWrongPaymentAddressFailsPurchasesOnly(t *testing.T) {
	s := startShop(t, map[string]string{"checkout.PAYMENT_ADDR": nobody(t)})
	s.fillCart(t)
	text := s.frontend.expect(t, 502, "POST", "/checkout", `{"user": "ann"}`)
	if !strings.Contains(text, "connection refused") || strings.Contains(text, "{\\") {
		t.Errorf("the error doesn't say why in plain words: %s", text)
	}
	s.frontend.expect(t, 200, "GET", "/", "")
	if got := testutil.ToFloat64(s.frontend.parts.metrics.requests.WithLabelValues("POST", "/checkout", "502")); got != 1 {
		t.Errorf("the failed request was counted %v times", got)
	}
	if got := testutil.ToFloat64(s.checkout.parts.metrics.calls.WithLabelValues("payment", "error")); got != 1 {
		t.Errorf("the failed call was counted %v times", got)
	}
	entry := s.checkout.logged.find(t, "ERROR")
	if entry["path"] != "/purchases" || entry["status"] != 502.0 || !strings.Contains(entry["error"].(string), "payment") {
		t.Errorf("not the log entry expected: %v", entry)
	}
	if entry["request_id"] == "" || entry["request_id"] != s.frontend.logged.find(t, "ERROR")["request_id"] {
		t.Error("the request id isn't handed on")
	}
}

func TestAnAddressThatCantBeOneIsABadGateway(t *testing.T) {
	s := startShop(t, map[string]string{"checkout.PAYMENT_ADDR": "pay ment:8080"})
	s.fillCart(t)
	s.frontend.expect(t, 502, "POST", "/checkout", `{"user": "ann"}`)
}

func TestAPeerThatDoesntAnswerIsAGatewayTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := startShop(t, map[string]string{"frontend.CATALOGUE_ADDR": listener.Addr().String()})
	s.frontend.expect(t, 504, "GET", "/", "")
}

func TestAWrongStorePasswordFailsWithTheReason(t *testing.T) {
	s := startShop(t, map[string]string{"catalogue.STORE_PASSWORD": "wrong"})
	text := s.frontend.expect(t, 502, "GET", "/", "")
	if !strings.Contains(text, "authentication failed for user") {
		t.Errorf("the error doesn't say why: %s", text)
	}
}

func TestAPeerThatIsSomethingElseIsABadGateway(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }))
	defer other.Close()
	s := startShop(t, map[string]string{"frontend.CATALOGUE_ADDR": other.URL})
	s.frontend.expect(t, 502, "GET", "/", "")
}

func TestMissingAndWrongSettingsAreAllNamed(t *testing.T) {
	err := run([]string{"checkout"}, func(name string) string {
		return map[string]string{"REQUEST_TIMEOUT": "soon", "LOG_LEVEL": "loud", "ORDERS_ADDR": "orders:8080"}[name]
	})
	if err == nil {
		t.Fatal("it started")
	}
	if strings.Count(err.Error(), "REQUEST_TIMEOUT") != 1 {
		t.Errorf("a problem is told more than once: %v", err)
	}
	for _, part := range []string{"PAYMENT_ADDR isn't set", `REQUEST_TIMEOUT is "soon"`, `LOG_LEVEL is "loud"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q isn't in: %v", part, err)
		}
	}
	if err := run([]string{"shipping"}, os.Getenv); err == nil || !strings.Contains(err.Error(), "payment") {
		t.Errorf("an unknown service isn't explained: %v", err)
	}
}

func TestTheStoreKeepsItsValues(t *testing.T) {
	folder := t.TempDir()
	environment := map[string]string{"STORE_USER": "u", "STORE_PASSWORD": "p", "DATA_DIR": folder}
	request := func(s *service, method, path, body string) (int, string) {
		return s.ask(t, method, path, body)
	}
	first := start(t, "store", environment)
	first.address = "u:p@" + first.address
	for path, value := range map[string]string{"/a/1": `{"x":1}`, "/a/2": `2`} {
		if status, text := request(first, "PUT", path, value); status != 200 {
			t.Fatalf("PUT %s gave %d: %s", path, status, text)
		}
	}
	request(first, "DELETE", "/a/2", "")
	// A crash in the middle of a write leaves half a line.
	file, err := os.OpenFile(filepath.Join(folder, "journal"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"key": "a/3", "val`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	second := start(t, "store", environment)
	if status, _ := second.ask(t, "GET", "/a/1", ""); status != 401 {
		t.Errorf("without credentials it gave %d, not 401", status)
	}
	second.address = "u:p@" + second.address
	if status, text := request(second, "GET", "/a/1", ""); status != 200 || strings.TrimSpace(text) != `{"x":1}` {
		t.Errorf("a kept value reads %d %s", status, text)
	}
	for _, path := range []string{"/a/2", "/a/3"} {
		if status, _ := request(second, "GET", path, ""); status != 404 {
			t.Errorf("%s reads %d, not 404", path, status)
		}
	}
	if status, _ := request(second, "PUT", "/a/4", `4`); status != 200 {
		t.Error("it can't be written to after the repair")
	}
	third := start(t, "store", environment)
	third.address = "u:p@" + third.address
	if status, _ := request(third, "GET", "/a/4", ""); status != 200 {
		t.Errorf("a value written after the repair reads %d", status)
	}
}

func TestForgottenCartsAreDropped(t *testing.T) {
	now := time.Unix(1700000000, 0)
	server := httptest.NewServer(newCartRoutes(10*time.Minute, func() time.Time { return now }))
	defer server.Close()
	cart := &service{address: strings.TrimPrefix(server.URL, "http://")}
	cart.expect(t, 200, "POST", "/carts/old/items", `{"product": "mug", "quantity": 1}`)
	cart.expect(t, 400, "POST", "/carts/old/items", `{"product": "mug"}`)
	now = now.Add(11 * time.Minute)
	cart.expect(t, 200, "POST", "/carts/new/items", `{"product": "mug", "quantity": 1}`)
	if text := cart.expect(t, 200, "GET", "/carts/old", ""); strings.TrimSpace(text) != "[]" {
		t.Errorf("a forgotten cart still holds %s", text)
	}
	if text := cart.expect(t, 200, "GET", "/carts/new", ""); !strings.Contains(text, "mug") {
		t.Errorf("a new cart holds %s", text)
	}
}

func TestAStoppingServiceAnswersUntilItHasDrained(t *testing.T) {
	p := &parts{log: slog.New(slog.DiscardHandler), metrics: newMetrics()}
	slow := make(chan struct{})
	routes := http.NewServeMux()
	routes.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) { <-slow })
	ctx, stop := context.WithCancel(context.Background())
	address := nobody(t)
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, address, routes, p, patience{200 * time.Millisecond, time.Minute}) }()
	if err := waitFor(context.Background(), []string{"http://" + address + "/readyz"}, 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	s := &service{address: address}
	answered := make(chan int, 1)
	go func() {
		status, _ := s.ask(t, "GET", "/slow", "")
		answered <- status
	}()
	s.expect(t, 200, "GET", "/healthz", "")
	stop()
	deadline := time.Now().Add(5 * time.Second)
	for {
		if status, _ := s.ask(t, "GET", "/readyz", ""); status == 503 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it still says that it is ready")
		}
	}
	s.expect(t, 200, "GET", "/healthz", "")
	close(slow)
	if status := <-answered; status != 200 {
		t.Errorf("the request under way got %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestProbesAndMetricsAreNotTraffic(t *testing.T) {
	s := startShop(t, nil)
	s.frontend.expect(t, 200, "GET", "/products/mug", "")
	if got := testutil.CollectAndCount(s.frontend.parts.metrics.requests); got != 1 {
		t.Errorf("%d series instead of one", got)
	}
	probed := httptest.NewServer(withProbes(http.NotFoundHandler(), s.catalogue.parts, new(draining)))
	defer probed.Close()
	before := testutil.CollectAndCount(s.catalogue.parts.metrics.requests)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		(&service{address: strings.TrimPrefix(probed.URL, "http://")}).expect(t, 200, "GET", path, "")
	}
	if after := testutil.CollectAndCount(s.catalogue.parts.metrics.requests); after != before {
		t.Errorf("%d series instead of %d", after, before)
	}
}

func TestUsersMakeTheWholeJourney(t *testing.T) {
	s := startShop(t, nil)
	users := start(t, "load", map[string]string{"FRONTEND_ADDR": s.frontend.address})
	environment := map[string]string{"FRONTEND_ADDR": s.frontend.address, "USERS": "3", "THINK_TIME": "5ms", "RAMP_UP": "10ms"}
	routes, err := newLoad(&settings{getenv: func(name string) string { return environment[name] }}, users.parts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		routes.(*load).work(ctx)
		close(ended)
	}()
	bought := func() float64 {
		return testutil.ToFloat64(s.frontend.parts.metrics.requests.WithLabelValues("POST", "/checkout", "200"))
	}
	deadline := time.Now().Add(10 * time.Second)
	for bought() < 3 {
		if time.Now().After(deadline) {
			t.Fatalf("only %v purchases", bought())
		}
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	<-ended
	if got := testutil.ToFloat64(users.parts.metrics.calls.WithLabelValues("frontend", "200")); got < 12 {
		t.Errorf("only %v calls were counted", got)
	}
}

func TestTheCatalogueHasPictures(t *testing.T) {
	drawn := newPictures(2)
	ctx, stop := context.WithCancel(context.Background())
	stop() // after the first picture
	drawn.draw(ctx, []product{{ID: "mug"}, {ID: "pen"}})
	routes := http.NewServeMux()
	routes.Handle("GET /products/{id}/pictures/{number}", drawn)
	server := httptest.NewServer(routes)
	defer server.Close()
	s := &service{address: strings.TrimPrefix(server.URL, "http://")}
	picture, err := png.Decode(strings.NewReader(s.expect(t, 200, "GET", "/products/mug/pictures/1", "")))
	if err != nil || picture.Bounds().Dx() != pictureSide {
		t.Errorf("no picture: %v", err)
	}
	for _, path := range []string{"mug/pictures/2", "mug/pictures/0", "mug/pictures/x", "pen/pictures/1"} {
		s.expect(t, 404, "GET", "/products/"+path, "")
	}
}

func TestOldConnectionsAreGivenUp(t *testing.T) {
	p := &parts{log: slog.New(slog.DiscardHandler), metrics: newMetrics()}
	ctx, stop := context.WithCancel(context.Background())
	address := nobody(t)
	ended := make(chan error, 1)
	routes := http.NewServeMux()
	go func() { ended <- serve(ctx, address, routes, p, patience{0, 100 * time.Millisecond}) }()
	if err := waitFor(context.Background(), []string{"http://" + address + "/readyz"}, 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	answers := func() *http.Response {
		response, err := client.Get("http://" + address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return response
	}
	if answers().Close {
		t.Error("a new connection is closed")
	}
	deadline := time.Now().Add(5 * time.Second)
	for !answers().Close {
		if time.Now().After(deadline) {
			t.Fatal("an old connection is kept")
		}
	}
	transport.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
