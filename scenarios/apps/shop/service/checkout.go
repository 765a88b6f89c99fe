package main

import (
	"errors"
	"fmt"
	"net/http"
)

// A charge is money taken for a purchase.
type charge struct {
	ID     string `json:"id"`
	User   string `json:"user"`
	Amount int    `json:"amount"`
}

// An order is a purchase that was paid for.
type order struct {
	ID     string `json:"id"`
	Charge string `json:"charge"`
	purchase
}

type checkout struct{ payment, orders *peer }

// newCheckout turns a purchase into an order: it has it paid, then placed.
func newCheckout(s *settings, p *parts) (http.Handler, error) {
	c := &checkout{payment: newPeer(s, p, "payment"), orders: newPeer(s, p, "orders")}
	mux := http.NewServeMux()
	mux.Handle("POST /purchases", endpoint(c.buy))
	return mux, nil
}

func (c *checkout) buy(r *http.Request) (any, error) {
	var wanted purchase
	if err := readJSON(r, &wanted); err != nil {
		return nil, err
	}
	amount := 0
	for _, each := range wanted.Items {
		amount += each.Price * each.Quantity
	}
	var paid charge
	if err := c.payment.call(r.Context(), http.MethodPost, "/charges", charge{User: wanted.User, Amount: amount}, &paid); err != nil {
		return nil, fmt.Errorf("the purchase wasn't paid: %w", err)
	}
	var placed order
	if err := c.orders.call(r.Context(), http.MethodPost, "/orders", order{Charge: paid.ID, purchase: wanted}, &placed); err != nil {
		return nil, fmt.Errorf("the order wasn't placed: %w", err)
	}
	return placed, nil
}

// newPayment takes money; the bank behind it accepts everything that makes sense.
func newPayment(*settings, *parts) (http.Handler, error) {
	mux := http.NewServeMux()
	mux.Handle("POST /charges", endpoint(func(r *http.Request) (any, error) {
		var wanted charge
		if err := readJSON(r, &wanted); err != nil {
			return nil, err
		}
		if wanted.Amount < 1 {
			return nil, fail(http.StatusUnprocessableEntity, errors.New("the amount must be at least 1"))
		}
		wanted.ID = newID()
		return wanted, nil
	}))
	return mux, nil
}
