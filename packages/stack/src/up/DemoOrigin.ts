/** The service behind the demo tunnel: a page that says what reached it, and an echo for those who post. */
import { Http } from "@catenet/platform/Http"
import { Markup, markup } from "@catenet/platform/Markup"
import { smallSheet } from "@catenet/platform/PageStyles"
import type { IncomingMessage, ServerResponse } from "node:http"

const row = ([name, value]: readonly [string, string]) => markup`<dt>${name}</dt><dd>${value}</dd>`

const english = {
  language: "en",
  title: "Hello from your machine",
  text: "A program on loopback answered this request. It came through the edge and the agent.",
  tiers: {
    gelb: "This name is edge-terminated (gelb): the edge terminated TLS and could read this.",
    gruen:
      "This name is end-to-end (gruen): the agent terminated TLS with its own certificate, and the edge could not read this."
  },
  facts: { host: "Host", path: "Path", from: "Forwarded for", who: "Signed in as", browser: "Browser" }
}
const german: typeof english = {
  language: "de",
  title: "Hallo von Ihrem Rechner",
  text: "Ein Programm auf Loopback hat diese Anfrage beantwortet. Sie kam durch den Edge und den Agenten.",
  tiers: {
    gelb: "Dieser Name endet am Edge (gelb): Der Edge hat TLS beendet und könnte dies lesen.",
    gruen:
      "Dieser Name ist Ende-zu-Ende verschlüsselt (gruen): Der Agent hat TLS mit einem eigenen Zertifikat beendet, der Edge kann dies nicht lesen."
  },
  facts: { host: "Host", path: "Pfad", from: "Weitergeleitet für", who: "Angemeldet als", browser: "Browser" }
}

const look = new Markup(smallSheet)

const page = (request: IncomingMessage) => {
  const header = (name: "accept-language" | "host" | "x-forwarded-for" | "x-gate-email" | "user-agent") =>
    String(request.headers[name] ?? "")
  const { facts: names, language, text, tiers, title } = /^de\b/iu.test(header("accept-language")) ? german : english
  const facts: ReadonlyArray<readonly [string, string]> = [
    [names.host, header("host")],
    [names.path, request.url ?? "/"],
    [names.from, header("x-forwarded-for")],
    [names.who, header("x-gate-email")],
    [names.browser, header("user-agent")]
  ]
  // Only an edge that reads a request says for whom it forwards it. Who asks this port itself came through neither.
  const tier = header("x-forwarded-for") === "" ? tiers.gruen : tiers.gelb
  const shown = facts.filter(([, value]) => value !== "").map(row)
  return markup`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="icon" href="data:,"><style>${look}</style></head>
<body><main><h1>${title}</h1><p>${text}</p><p>${tier}</p><dl>${shown}</dl></main></body></html>
`.text
}

const answer = (request: IncomingMessage, response: ServerResponse) => {
  if (request.method === "POST") {
    response.writeHead(200, { "content-type": request.headers["content-type"] ?? "application/octet-stream" })
    request.pipe(response)
    return
  }
  response
    .writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      vary: "accept-language"
    })
    .end(page(request))
}

/** Resolves when it listens. */
export const serve = (host: string, port: number) =>
  new Promise<{ readonly close: () => Promise<void> }>((resolve, reject) => {
    const server = Http.server(answer)
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
