"""An ASGI application as an origin. Answers with what it was asked, and echoes what WebSockets send with the Host of their handshake."""


async def app(scope, receive, send):
    fields = {name.decode(): value.decode() for name, value in scope.get("headers", [])}
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            said = event.get("text") or (event.get("bytes") or b"").decode()
            await send({"type": "websocket.send", "text": f"{fields.get('host')} {said}"})
    elif scope["type"] == "http":
        version = {"2": "2.0"}.get(scope["http_version"], scope["http_version"])
        body = f"{fields.get('host')} HTTP/{version} {fields.get('x-forwarded-for')}".encode()
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body})
    else:
        raise NotImplementedError(scope["type"])
