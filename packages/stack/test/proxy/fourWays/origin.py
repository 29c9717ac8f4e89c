"""Python's http.server as an origin, without TLS, with it, and on a port that closes idle connections after 0.3 s and refuses bodies
above 1 KiB without reading them."""
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

plain, tls, brisk, cert, key = sys.argv[1:]
PAGES = {
    "/tall": (200, [(f"X-Tall-{i}", "t" * 4000) for i in range(10)]),
    "/cookies": (200, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2")]),
    "/none": (204, []),
    "/moved": (302, [("Location", "/elsewhere")]),
    "/missing": (404, []),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    most = 1 << 20
    idle = None

    def handle(self):
        # A first request on a busy machine may take its time.
        self.close_connection = True
        self.handle_one_request()
        self.connection.settimeout(self.idle)
        while not self.close_connection:
            self.handle_one_request()

    def answer(self, status, body, fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204 and self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        if self.path == "/seen":
            said = f"{self.headers['Host']} {self.request_version} {self.headers['X-Forwarded-For']}"
            return self.answer(200, said.encode())
        status, fields = PAGES.get(self.path, (200, []))
        self.answer(status, b"ok", fields)

    def do_POST(self):
        if "Content-Length" not in self.headers:
            while (size := int(self.rfile.readline(), 16)) > 0:
                self.rfile.read(size + 2)
            self.rfile.readline()
        elif int(self.headers["Content-Length"]) > self.most:
            self.answer(413, b"too big", [("Connection", "close")])
            self.close_connection = True
            return
        else:
            self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, b"ok")

    do_HEAD = do_GET
    do_PATCH = do_POST

    def log_message(self, *_):
        pass


class Brisk(Handler):
    most = 1024
    idle = 0.3


def serve(server):
    Thread(target=server.serve_forever).start()


serve(ThreadingHTTPServer(("127.0.0.1", int(plain)), Handler))
serve(ThreadingHTTPServer(("127.0.0.1", int(brisk)), Brisk))
secure = ThreadingHTTPServer(("127.0.0.1", int(tls)), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
secure.socket = context.wrap_socket(secure.socket, server_side=True)
serve(secure)
print("ready", file=sys.stderr, flush=True)
