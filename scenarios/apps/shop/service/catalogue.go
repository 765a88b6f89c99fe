package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
)

type catalogue struct {
	http.Handler
	store    *peer
	imported []product
	pictures *pictures
}

// newCatalogue knows the products. They are kept in the store, and imported from a file when the store has none.
func newCatalogue(s *settings, p *parts) (http.Handler, error) {
	mux := http.NewServeMux()
	c := &catalogue{Handler: mux, store: newStorePeer(s, p), pictures: newPictures(s.number("PICTURES_PER_PRODUCT", 0))}
	data, err := os.ReadFile(s.required("PRODUCTS_FILE"))
	if err != nil {
		return nil, fmt.Errorf("the products can't be read: %w", err)
	}
	if err := json.Unmarshal(data, &c.imported); err != nil {
		return nil, fmt.Errorf("the products aren't the JSON expected: %w", err)
	}
	mux.Handle("GET /products", endpoint(c.list))
	mux.Handle("GET /products/{id}", endpoint(c.one))
	mux.Handle("GET /products/{id}/pictures/{number}", c.pictures)
	return c, nil
}

// work draws the pictures while the catalogue already answers.
func (c *catalogue) work(ctx context.Context) { c.pictures.draw(ctx, c.imported) }

func (c *catalogue) list(r *http.Request) (any, error) { return c.all(r.Context()) }

func (c *catalogue) one(r *http.Request) (any, error) {
	products, err := c.all(r.Context())
	if err != nil {
		return nil, err
	}
	for _, each := range products {
		if each.ID == r.PathValue("id") {
			return each, nil
		}
	}
	return nil, fail(http.StatusNotFound, fmt.Errorf("no product has the id %q", r.PathValue("id")))
}

func (c *catalogue) all(ctx context.Context) ([]product, error) {
	const path = "/catalogue/products"
	var products []product
	err := c.store.call(ctx, http.MethodGet, path, nil, &products)
	if answer := (*answered)(nil); errors.As(err, &answer) && answer.status == http.StatusNotFound {
		return c.imported, c.store.call(ctx, http.MethodPut, path, c.imported, nil)
	}
	return products, err
}
