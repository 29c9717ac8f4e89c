"""Python's http.server as an origin: closes idle connections after 0.3 s, refuses bodies above 1 KiB without reading them and answers
/tall with a head of 40 KB."""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self):
        # A first request on a busy machine may take its time.
        self.handle_one_request()
        self.connection.settimeout(0.3)
        while not self.close_connection:
            self.handle_one_request()

    def answer(self, status, body, fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        tall = [(f"X-Tall-{i}", "t" * 4000) for i in range(10)] if self.path == "/tall" else []
        self.answer(200, b"ok", tall)

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > 1024:
            self.answer(413, b"too big", [("Connection", "close")])
            self.close_connection = True
        else:
            self.rfile.read(length)
            self.answer(200, b"ok")

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("ready", file=sys.stderr, flush=True)
server.serve_forever()
