package main

import (
	"errors"
	"net/http"
	"net/url"
)

// A product as the catalogue knows it; the price is in cents.
type product struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Price int    `json:"price"`
}

// An item is a number of pieces of a product.
type item struct {
	Product  string `json:"product"`
	Quantity int    `json:"quantity"`
	Price    int    `json:"price"`
}

// A purchase is what a user wants to buy.
type purchase struct {
	User  string `json:"user"`
	Items []item `json:"items"`
}

type frontend struct{ catalogue, cart, checkout *peer }

// newFrontend is what users talk to: products, the cart, and buying what is in it.
func newFrontend(s *settings, p *parts) (http.Handler, error) {
	f := &frontend{catalogue: newPeer(s, p, "catalogue"), cart: newPeer(s, p, "cart"), checkout: newPeer(s, p, "checkout")}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", endpoint(f.home))
	mux.Handle("GET /products/{id}", endpoint(f.product))
	mux.Handle("GET /cart/{user}", endpoint(f.showCart))
	mux.Handle("POST /cart/{user}/items", endpoint(f.add))
	mux.Handle("POST /checkout", endpoint(f.buy))
	return mux, nil
}

func (f *frontend) home(r *http.Request) (any, error) {
	var products []product
	err := f.catalogue.call(r.Context(), http.MethodGet, "/products", nil, &products)
	return products, err
}

func (f *frontend) product(r *http.Request) (any, error) {
	var found product
	err := f.catalogue.call(r.Context(), http.MethodGet, "/products/"+url.PathEscape(r.PathValue("id")), nil, &found)
	return found, err
}

func (f *frontend) showCart(r *http.Request) (any, error) {
	var items []item
	err := f.cart.call(r.Context(), http.MethodGet, cartPath(r.PathValue("user")), nil, &items)
	return items, err
}

func (f *frontend) add(r *http.Request) (any, error) {
	var wanted item
	if err := readJSON(r, &wanted); err != nil {
		return nil, err
	}
	var found product
	if err := f.catalogue.call(r.Context(), http.MethodGet, "/products/"+url.PathEscape(wanted.Product), nil, &found); err != nil {
		return nil, err
	}
	wanted.Price = found.Price
	var items []item
	err := f.cart.call(r.Context(), http.MethodPost, cartPath(r.PathValue("user"))+"/items", wanted, &items)
	return items, err
}

func (f *frontend) buy(r *http.Request) (any, error) {
	var by struct {
		User string `json:"user"`
	}
	if err := readJSON(r, &by); err != nil {
		return nil, err
	}
	wanted := purchase{User: by.User}
	if err := f.cart.call(r.Context(), http.MethodGet, cartPath(by.User), nil, &wanted.Items); err != nil {
		return nil, err
	}
	if len(wanted.Items) == 0 {
		return nil, fail(http.StatusConflict, errors.New("the cart is empty"))
	}
	var placed order
	if err := f.checkout.call(r.Context(), http.MethodPost, "/purchases", wanted, &placed); err != nil {
		return nil, err
	}
	err := f.cart.call(r.Context(), http.MethodDelete, cartPath(by.User), nil, nil)
	return placed, err
}

func cartPath(user string) string { return "/carts/" + url.PathEscape(user) }
