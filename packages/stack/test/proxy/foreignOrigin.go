// Go's net/http as an origin: closes idle connections after 300 ms, refuses bodies above 1 KiB and answers /tall with a head of 40 KB.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/tall", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < 10; i++ {
			w.Header().Set(fmt.Sprintf("X-Tall-%d", i), strings.Repeat("t", 4000))
		}
		fmt.Fprint(w, "ok")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1024)); err != nil {
			http.Error(w, "too big", http.StatusRequestEntityTooLarge)
			return
		}
		fmt.Fprint(w, "ok")
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, "ready")
	panic((&http.Server{Handler: mux, IdleTimeout: 300 * time.Millisecond}).Serve(listener))
}
