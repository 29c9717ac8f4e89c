/** The service behind the demo tunnel: a page that says what reached it, and an echo for those who post. */
import { markup } from "@catenet/domain/values/Markup"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

const row = ([name, value]: readonly [string, string]) => markup`<dt>${name}</dt><dd>${value}</dd>`

const page = (request: IncomingMessage) => {
  const header = (name: "host" | "x-forwarded-for" | "x-gate-email" | "user-agent") =>
    String(request.headers[name] ?? "")
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["Host", header("host")],
    ["Path", request.url ?? "/"],
    ["Forwarded for", header("x-forwarded-for")],
    ["Signed in as", header("x-gate-email")],
    ["Browser", header("user-agent")]
  ]
  const shown = facts.filter(([, value]) => value !== "").map(row)
  return markup`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hello from your machine</title></head><body><main><h1>Hello from your machine</h1><p>A program on loopback answered this request. It came through the edge and the agent.</p><dl>${shown}</dl></main></body></html>`
    .text
}

const answer = (request: IncomingMessage, response: ServerResponse) => {
  if (request.method === "POST") {
    response.writeHead(200, { "content-type": request.headers["content-type"] ?? "application/octet-stream" })
    request.pipe(response)
    return
  }
  response
    .writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" })
    .end(page(request))
}

/** Resolves when it listens. */
export const serve = (host: string, port: number) =>
  new Promise<{ readonly close: () => Promise<void> }>((resolve, reject) => {
    const server = createServer(answer)
    server.once("error", reject)
    server.listen({ host, port }, () =>
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeIdleConnections()
          })
      })
    )
  })
