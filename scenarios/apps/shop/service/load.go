package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

type load struct {
	http.Handler
	frontend *peer
	users    int
	think    time.Duration
	rise     time.Duration
	parts    *parts
}

// newLoad acts as users: each looks around, chooses a product, puts it into the cart and buys it, over and over.
//
// USERS of them think for THINK_TIME on average before each request, so the rate is about USERS / THINK_TIME; they
// come in one after another within RAMP_UP.
func newLoad(s *settings, p *parts) (http.Handler, error) {
	return &load{
		Handler: http.NotFoundHandler(), frontend: newPeer(s, p, "frontend"), parts: p,
		users: s.number("USERS", 20), think: s.duration("THINK_TIME", 2*time.Second), rise: s.duration("RAMP_UP", 5*time.Second),
	}, nil
}

func (l *load) work(ctx context.Context) {
	var all sync.WaitGroup
	for number := range l.users {
		all.Go(func() {
			if !pause(ctx, l.rise*time.Duration(number)/time.Duration(l.users)) {
				return
			}
			for l.visit(ctx) {
			}
		})
	}
	all.Wait()
}

// visit is one user's way through the shop; a request that fails ends it. It returns false when it is time to stop.
func (l *load) visit(ctx context.Context) bool {
	user := "user-" + newID()
	ctx = context.WithValue(ctx, requestIDKey{}, newID())
	var products []product
	chosen := func() string {
		if len(products) == 0 {
			return "none"
		}
		return products[rand.IntN(len(products))].ID
	}
	steps := []func() error{
		func() error { return l.frontend.call(ctx, http.MethodGet, "/", nil, &products) },
		func() error { return l.frontend.call(ctx, http.MethodGet, "/products/"+chosen(), nil, nil) },
		func() error {
			return l.frontend.call(ctx, http.MethodPost, cartPathOf(user), item{Product: chosen(), Quantity: 1 + rand.IntN(3)}, nil)
		},
		func() error {
			return l.frontend.call(ctx, http.MethodPost, "/checkout", map[string]string{"user": user}, nil)
		},
	}
	for _, step := range steps {
		if !pause(ctx, time.Duration(float64(l.think)*(0.5+rand.Float64()))) {
			return false
		}
		if err := step(); err != nil && ctx.Err() == nil {
			l.parts.log.Warn("a visit ended early", "error", err.Error(), "user", user)
			return true
		}
	}
	return ctx.Err() == nil
}

func cartPathOf(user string) string { return "/cart/" + user + "/items" }

// pause returns false when ctx ended meanwhile.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
