// Command shop is every service of a small web shop; the first argument says
// which one it is. Settings come from the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A role builds the routes of one service from its settings.
type role func(s *settings, p *parts) (http.Handler, error)

// parts is what every service is built with.
type parts struct {
	log     *slog.Logger
	metrics *metrics
}

var roles = map[string]role{
	"frontend":  newFrontend,
	"catalogue": newCatalogue,
	"cart":      newCart,
	"checkout":  newCheckout,
	"payment":   newPayment,
	"orders":    newOrders,
	"store":     newStore,
	"load":      newLoad,
}

func main() {
	if err := run(os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string) error {
	if len(args) == 0 {
		return fmt.Errorf("which service? one of %s, or wait URL…", strings.Join(names(), ", "))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if args[0] == "wait" {
		return waitFor(ctx, args[1:], 500*time.Millisecond)
	}
	build, known := roles[args[0]]
	if !known {
		return fmt.Errorf("no service is called %q; there are %s", args[0], strings.Join(names(), ", "))
	}
	s := &settings{getenv: getenv}
	level, port := s.level("LOG_LEVEL", slog.LevelInfo), s.text("PORT", "8080")
	wait := patience{drain: s.duration("DRAIN_TIME", 2*time.Second), connections: s.duration("CONNECTION_AGE", 10*time.Second)}
	p := &parts{
		log:     slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: level})).With("service", args[0]),
		metrics: newMetrics(),
	}
	flush, unsent := startTracing(s, args[0], p.log)
	routes, err := build(s, p)
	if err := errors.Join(s.problem(), unsent, err); err != nil {
		p.log.Error("the settings can't be used", "error", err.Error())
		return err
	}
	defer flush()
	if worker, ok := routes.(interface{ work(context.Context) }); ok {
		go worker.work(ctx)
	}
	return serve(ctx, ":"+port, routes, p, wait)
}

func names() []string {
	all := make([]string, 0, len(roles))
	for name := range roles {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// waitFor returns once every URL has answered with 200.
func waitFor(ctx context.Context, urls []string, pause time.Duration) error {
	client := &http.Client{Timeout: 2 * time.Second}
	for _, url := range urls {
		for !answers(ctx, client, url) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("stopped while waiting for %s", url)
			case <-time.After(pause):
			}
		}
	}
	return nil
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// newID makes an identifier that is short and unlikely to come twice.
func newID() string { return fmt.Sprintf("%016x", rand.Uint64()) }
