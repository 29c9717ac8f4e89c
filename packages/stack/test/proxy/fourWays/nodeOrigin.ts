/** Node's own servers as an origin, without TLS, with it, and on a port that closes idle connections and refuses bodies above 1 KiB. */
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createSecureServer } from "node:http2"

const [plain, tls, brisk, cert = "", key = ""] = process.argv.slice(2)

const pages: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  "/seen": ({ headers, httpVersion }, response) =>
    void response.end(
      `${headers.host ?? headers[":authority" as "host"]} HTTP/${httpVersion} ${headers["x-forwarded-for"]}`
    ),
  "/tall": (_request, response) => {
    for (let n = 0; n < 10; n++) response.setHeader(`X-Tall-${n}`, "t".repeat(4_000))
    response.end("ok")
  },
  "/cookies": (_request, response) => void response.setHeader("Set-Cookie", ["a=1; Path=/", "b=2"]).end("ok"),
  "/none": (_request, response) => void response.writeHead(204).end(),
  "/moved": (_request, response) => void response.writeHead(302, { Location: "/elsewhere" }).end(),
  "/missing": (_request, response) => void response.writeHead(404).end("missing"),
  "/stream": (_request, response) => {
    for (let n = 0; n < 5; n++) response.write("s".repeat(1_000))
    response.end()
  },
  "/trailers": (_request, response) => {
    response.setHeader("Trailer", "X-Sum")
    response.write("ok")
    response.addTrailers({ "X-Sum": "42" })
    response.end()
  },
  "/hints": (_request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" })
    response.end("ok")
  }
}

const answer = (request: IncomingMessage, response: ServerResponse, most = Infinity) => {
  if (Number(request.headers["content-length"]) > most)
    return void response.writeHead(413, { Connection: "close" }).end("too big")
  request.resume().once("end", () => {
    const page = pages[request.url ?? ""]
    if (page === undefined) response.end("ok")
    else page(request, response)
  })
}

createServer(answer).listen(Number(plain), "127.0.0.1")
const pair = { cert: readFileSync(cert), key: readFileSync(key) }
createSecureServer({ ...pair, allowHTTP1: true }, answer as never).listen(Number(tls), "127.0.0.1")
createServer({ keepAliveTimeout: 300, keepAliveTimeoutBuffer: 0 }, (request, response) =>
  answer(request, response, 1024)
).listen(Number(brisk), "127.0.0.1", () => process.stderr.write("ready\n"))
