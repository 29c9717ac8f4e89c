// An origin that says, a line for each request, what it understood. The port of its first line is where it listens.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
)

// Bytes as characters of latin-1, so that none is lost in JSON.
func latin1(bytes string) string {
	runes := make([]rune, len(bytes))
	for i := 0; i < len(bytes); i++ {
		runes[i] = rune(bytes[i])
	}
	return string(runes)
}

func main() {
	var one sync.Mutex
	out := json.NewEncoder(os.Stdout)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, failed := io.ReadAll(request.Body)
		fields := [][2]string{}
		for name, values := range request.Header {
			for _, value := range values {
				fields = append(fields, [2]string{latin1(name), latin1(value)})
			}
		}
		_, port, _ := net.SplitHostPort(request.RemoteAddr)
		one.Lock()
		out.Encode(map[string]any{
			"port": port, "method": latin1(request.Method), "target": latin1(request.RequestURI), "host": latin1(request.Host),
			"fields": fields, "body": latin1(string(body)), "whole": failed == nil,
		})
		one.Unlock()
		response.Header().Set("Content-Length", "2")
		response.Write([]byte("ok"))
	})))
}
