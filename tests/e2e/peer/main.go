// Command peer is one end of a connection between pods: it serves, and calls
// others on request, over connections that it keeps open or makes anew.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"time"
)

// answer is how a call went.
type answer struct {
	Status       int     `json:"status"`
	Milliseconds float64 `json:"milliseconds"`
	Reused       bool    `json:"reused"`
	Error        string  `json:"error"`
}

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		serve()
	case len(os.Args) == 4 && os.Args[1] == "call":
		query := url.Values{"url": {os.Args[2]}, "connection": {os.Args[3]}}
		response, err := http.Get("http://localhost:8080/call?" + query.Encode())
		if err != nil {
			fail(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(os.Stdout, response.Body); err != nil {
			fail(err)
		}
	default:
		fail(fmt.Errorf("usage: peer serve | call URL kept|new"))
	}
}

func serve() {
	kept := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{}}
	fresh := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	http.HandleFunc("/call", func(w http.ResponseWriter, r *http.Request) {
		client := fresh
		if r.FormValue("connection") == "kept" {
			client = kept
		}
		if err := json.NewEncoder(w).Encode(call(client, r.FormValue("url"))); err != nil {
			fmt.Println(err)
		}
	})
	go func() { fail(http.ListenAndServe(":9090", nil)) }()
	fail(http.ListenAndServe(":8080", nil))
}

func call(client *http.Client, target string) (made answer) {
	request, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		return answer{Error: err.Error()}
	}
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { made.Reused = info.Reused }}
	began := time.Now()
	defer func() { made.Milliseconds = float64(time.Since(began).Microseconds()) / 1000 }()
	response, err := client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err != nil {
		made.Error = err.Error()
		return made
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		made.Error = err.Error()
	}
	made.Status = response.StatusCode
	return made
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
