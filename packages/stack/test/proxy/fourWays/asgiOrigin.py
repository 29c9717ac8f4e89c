"""An ASGI application as an origin."""

PAGES = {
    "/tall": (200, [(f"x-tall-{i}", "t" * 4000) for i in range(10)]),
    "/cookies": (200, [("set-cookie", "a=1; Path=/"), ("set-cookie", "b=2")]),
    "/none": (204, []),
    "/moved": (302, [("location", "/elsewhere")]),
    "/missing": (404, []),
}


async def read(receive):
    while (await receive()).get("more_body", False):
        pass


async def app(scope, receive, send):
    fields = {name.decode(): value.decode() for name, value in scope.get("headers", [])}
    if scope["type"] == "http":
        await read(receive)
        path = scope["path"]
        status, headers = PAGES.get(path, (200, []))
        body = b"" if status == 204 else b"ok"
        if path == "/seen":
            version = {"2": "2.0"}.get(scope["http_version"], scope["http_version"])
            body = f"{fields.get('host')} HTTP/{version} {fields.get('x-forwarded-for')}".encode()
        if path != "/stream" and status != 204:
            headers = [*headers, ("content-length", str(len(body)))]
        encoded = [(name.encode(), value.encode()) for name, value in headers]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        if path == "/stream":
            for _ in range(5):
                await send({"type": "http.response.body", "body": b"s" * 1000, "more_body": True})
            body = b""
        await send({"type": "http.response.body", "body": body})
    else:
        raise NotImplementedError(scope["type"])
