package main

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

type basket struct {
	items   []item
	touched time.Time
}

type cart struct {
	mutex   sync.Mutex
	baskets map[string]*basket
	keep    time.Duration
	now     func() time.Time
	swept   time.Time
}

// newCart keeps what users have chosen, in memory, until they leave it alone for too long.
func newCart(s *settings, _ *parts) (http.Handler, error) {
	return newCartRoutes(s.duration("CART_LIFETIME", 10*time.Minute), time.Now), nil
}

func newCartRoutes(keep time.Duration, now func() time.Time) http.Handler {
	c := &cart{baskets: map[string]*basket{}, keep: keep, now: now, swept: now()}
	mux := http.NewServeMux()
	mux.Handle("GET /carts/{user}", endpoint(c.show))
	mux.Handle("POST /carts/{user}/items", endpoint(c.add))
	mux.Handle("DELETE /carts/{user}", endpoint(c.clear))
	return mux
}

func (c *cart) show(r *http.Request) (any, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if found, ok := c.baskets[r.PathValue("user")]; ok {
		return append([]item{}, found.items...), nil
	}
	return []item{}, nil
}

func (c *cart) add(r *http.Request) (any, error) {
	var wanted item
	if err := readJSON(r, &wanted); err != nil {
		return nil, err
	}
	if wanted.Product == "" || wanted.Quantity < 1 {
		return nil, fail(http.StatusBadRequest, errors.New("a product and a quantity of at least 1 are needed"))
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.sweep()
	found, ok := c.baskets[r.PathValue("user")]
	if !ok {
		found = &basket{}
		c.baskets[r.PathValue("user")] = found
	}
	found.items = append(found.items, wanted)
	found.touched = c.now()
	return append([]item{}, found.items...), nil
}

func (c *cart) clear(r *http.Request) (any, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.baskets, r.PathValue("user"))
	return []item{}, nil
}

// sweep drops forgotten baskets, at most once in a tenth of their lifetime.
func (c *cart) sweep() {
	now := c.now()
	if now.Sub(c.swept) < c.keep/10 {
		return
	}
	c.swept = now
	for user, each := range c.baskets {
		if now.Sub(each.touched) > c.keep {
			delete(c.baskets, user)
		}
	}
}
