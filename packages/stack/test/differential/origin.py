"""An origin that says, a line for each request, what it understood. The port of its first line is where it listens."""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

one = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one write, so that it does not wait for the peer's acknowledgement.
    wbufsize = -1

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def chunked(self):
        body = b""
        while True:
            line = self.rfile.readline(65536)
            size = int(line.split(b";")[0].strip(), 16)
            if size == 0:
                break
            piece = self.rfile.read(size)
            body += piece
            if len(piece) < size or self.rfile.readline(65536) == b"":
                raise ValueError("the body ends early")
        while True:
            line = self.rfile.readline(65536)
            if line == b"":
                raise ValueError("the trailers end early")
            if line in (b"\r\n", b"\n"):
                return body

    def answer(self):
        whole = True
        body = b""
        try:
            if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
                body = self.chunked()
            else:
                length = int(self.headers.get("Content-Length", "0"))
                body = self.rfile.read(length)
                whole = len(body) == length
        except ValueError:
            whole = False
        seen = {
            "port": str(self.client_address[1]),
            "method": self.command,
            "target": self.path,
            "host": self.headers.get("Host", ""),
            "fields": [[name, value] for name, value in self.headers.items()],
            "body": body.decode("latin-1"),
            "whole": whole,
        }
        with one:
            print(json.dumps(seen), flush=True)
        if not whole:
            self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
