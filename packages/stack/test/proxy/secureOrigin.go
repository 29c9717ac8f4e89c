// Go's net/http with TLS as an origin: HTTP/2 and HTTP/1.1, as each connection chooses. Answers with what it was asked.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s", r.Host, r.Proto, r.Header.Get("X-Forwarded-For"))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, "ready")
	panic((&http.Server{}).ServeTLS(listener, os.Args[2], os.Args[3]))
}
