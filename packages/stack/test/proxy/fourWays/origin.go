// Go's net/http as an origin, without TLS, with it, and on a port that closes idle connections after 300 ms and refuses bodies above
// 1 KiB.
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

func listen(port string) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	return listener
}

func main() {
	plain, tls, brisk, cert, key, file := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]
	ok := func(w http.ResponseWriter) { fmt.Fprint(w, "ok") }
	pages := map[string]func(w http.ResponseWriter, r *http.Request){
		"/seen": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s", r.Host, r.Proto, r.Header.Get("X-Forwarded-For"))
		},
		"/tall": func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < 10; i++ {
				w.Header().Set(fmt.Sprintf("X-Tall-%d", i), strings.Repeat("t", 4000))
			}
			ok(w)
		},
		"/cookies": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("Set-Cookie", "a=1; Path=/")
			w.Header().Add("Set-Cookie", "b=2")
			ok(w)
		},
		"/none":    func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"/moved":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"/missing": http.NotFound,
		"/file":    func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) },
		"/stream": func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < 5; i++ {
				fmt.Fprint(w, strings.Repeat("s", 1000))
				w.(http.Flusher).Flush()
			}
		},
		"/trailers": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			ok(w)
			w.Header().Set("X-Sum", "42")
		},
		"/hints": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "</style.css>; rel=preload; as=style")
			w.WriteHeader(http.StatusEarlyHints)
			ok(w)
		},
	}
	handler := func(limit int64) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit)); err != nil {
				http.Error(w, "too big", http.StatusRequestEntityTooLarge)
			} else if page := pages[r.URL.Path]; page != nil {
				page(w, r)
			} else {
				ok(w)
			}
		})
	}
	open, secure, hasty := listen(plain), listen(tls), listen(brisk)
	go func() { panic((&http.Server{Handler: handler(1 << 20)}).Serve(open)) }()
	go func() { panic((&http.Server{Handler: handler(1 << 20)}).ServeTLS(secure, cert, key)) }()
	fmt.Fprintln(os.Stderr, "ready")
	panic((&http.Server{Handler: handler(1024), IdleTimeout: 300 * time.Millisecond}).Serve(hasty))
}
