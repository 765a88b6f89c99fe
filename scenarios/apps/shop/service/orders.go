package main

import (
	"errors"
	"net/http"
	"net/url"
)

type orders struct{ store *peer }

// newOrders keeps orders in the store.
func newOrders(s *settings, p *parts) (http.Handler, error) {
	o := &orders{store: newStorePeer(s, p)}
	mux := http.NewServeMux()
	mux.Handle("POST /orders", endpoint(o.place))
	mux.Handle("GET /orders/{id}", endpoint(o.show))
	return mux, nil
}

func (o *orders) place(r *http.Request) (any, error) {
	var wanted order
	if err := readJSON(r, &wanted); err != nil {
		return nil, err
	}
	if wanted.Charge == "" {
		return nil, fail(http.StatusUnprocessableEntity, errors.New("an order must have been paid"))
	}
	wanted.ID = newID()
	return wanted, o.store.call(r.Context(), http.MethodPut, "/orders/"+wanted.ID, wanted, nil)
}

func (o *orders) show(r *http.Request) (any, error) {
	var found order
	err := o.store.call(r.Context(), http.MethodGet, "/orders/"+url.PathEscape(r.PathValue("id")), nil, &found)
	return found, err
}

// newStorePeer is the store with the credentials for it.
func newStorePeer(s *settings, p *parts) *peer {
	store := newPeer(s, p, "store")
	store.user, store.secret = s.required("STORE_USER"), s.required("STORE_PASSWORD")
	return store
}
