// Command probe is what the tests run in pods: a small web server, and the
// questions one asks from inside a pod.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: probe serve | get URL | resolve NAME | connect ADDRESS | list FOLDER")
	}
	switch os.Args[1] {
	case "serve":
		serve()
	case "get":
		get(os.Args[2])
	case "resolve":
		resolve(os.Args[2])
	case "connect":
		connect(os.Args[2])
	case "list":
		list(os.Args[2])
	default:
		fail("no such thing: " + os.Args[1])
	}
}

func serve() {
	requests := 0
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		requests++
		fmt.Println("asked for", r.URL.Path)
		fmt.Fprintln(w, "hello from the probe")
	})
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE probe_requests_total counter\nprobe_requests_total %d\n", requests)
	})
	fmt.Println("probe is listening")
	fail(http.ListenAndServe(":8080", nil).Error())
}

func get(url string) {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		fail(err.Error())
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		fail(err.Error())
	}
}

func resolve(name string) {
	started := time.Now()
	addresses, err := net.DefaultResolver.LookupHost(context.Background(), name)
	if err != nil {
		fail(fmt.Sprintf("%v after %d ms", err, time.Since(started).Milliseconds()))
	}
	fmt.Println(addresses)
}

func connect(address string) {
	connection, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err != nil {
		fail(err.Error())
	}
	connection.Close()
	fmt.Println("connected")
}

func list(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		fail(err.Error())
	}
	for _, entry := range entries {
		fmt.Println(entry.Name())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
