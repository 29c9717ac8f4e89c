/** What rules do with requests, the same wherever TLS ends and in both versions of HTTP. */
import { Rules } from "@catenet/domain/rules/Rules"
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import { createServer, type IncomingHttpHeaders, request as requestHttp1 } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import type { TLSSocket } from "node:tls"

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In chunks where no length says where it ends. */
  readonly body?: string
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export type Ask = (asked: Asked) => Promise<Answered>

/** An origin that says what it was asked. */
export const echoing = () => {
  const seen = { count: 0 }
  const server = createServer((request, response) => {
    seen.count += 1
    let length = 0
    request.on("data", (chunk: Buffer) => (length += chunk.length))
    request.on("end", () => {
      const { headers, method, url } = request
      response.setHeader("X-Powered-By", "PHP")
      response.setHeader("Access-Control-Allow-Origin", "https://anyone.example")
      response.setHeader("Vary", "Accept")
      response.end(JSON.stringify({ headers, method, url, length }))
    })
  })
  return { server, seen }
}

/** One request on a connection of its own. */
export const overHttp1 =
  (host: string, dial: (alpn: ReadonlyArray<string>) => TLSSocket): Ask =>
  ({ body = "", headers = {}, method = "GET", path = "/" }) =>
    new Promise((resolve, reject) => {
      const socket = dial(["http/1.1"])
      socket.once("error", reject)
      const asked = requestHttp1(
        { createConnection: () => socket, method, path, headers: { host, connection: "close", ...headers } },
        (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
        }
      )
      asked.on("error", reject)
      asked.end(body)
    })

export const overHttp2 =
  (host: string, dial: (alpn: ReadonlyArray<string>) => TLSSocket): Ask =>
  ({ body, headers = {}, method = "GET", path = "/" }) =>
    new Promise((resolve, reject) => {
      const socket = dial(["h2"])
      const client = connectHttp2(`https://${host}`, { createConnection: () => socket }).on("error", reject)
      const { "transfer-encoding": _chunked, ...fields } = headers
      const stream = client.request({ ":method": method, ":path": path, ...fields }).on("error", reject)
      let [status, answered, text] = [0, {} as IncomingHttpHeaders, ""]
      stream.on("response", (all) => {
        status = Number(all[":status"])
        answered = all as IncomingHttpHeaders
      })
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
      stream.on("end", () => {
        client.destroy()
        resolve({ status, headers: answered, body: text })
      })
      stream.end(body)
    })

const ada = "ada:$scrypt$ln=10,r=8,p=1$c2FsdHNhbHRzYWx0$NI1BBOnarnYrYfhusuurorr8OA962cSke3Xe9L02+a0"
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` })
const app = "https://app.example.net"

interface Step {
  readonly ask: Asked
  readonly status: number
  readonly fields?: Answered["headers"]
  /** What the origin saw of it: `undefined` is a field that it did not. */
  readonly seen?: Readonly<Record<string, string | undefined>>
  readonly reaches: boolean
}

interface Case {
  readonly name: string
  readonly rules: unknown
  readonly steps: ReadonlyArray<Step>
}

export const ruleCases: ReadonlyArray<Case> = [
  { name: "no rules", rules: [], steps: [{ ask: {}, status: 200, reaches: true, fields: { "x-powered-by": "PHP" } }] },
  {
    name: "addresses in a range and in none",
    rules: [{ allow: ["127.0.0.0/8", "::1"] }],
    steps: [{ ask: {}, status: 200, reaches: true }]
  },
  { name: "addresses in none", rules: [{ allow: ["10.0.0.0/8"] }], steps: [{ ask: {}, status: 403, reaches: false }] },
  {
    name: "a redirect with the rest of the path",
    rules: [{ redirect: { from: "/old/*", to: "/new/*", status: 307 } }],
    steps: [
      { ask: { path: "/old/a?b=1" }, status: 307, fields: { location: "/new/a?b=1" }, reaches: false },
      { ask: { path: "/older" }, status: 200, reaches: true }
    ]
  },
  {
    name: "fields of requests and answers",
    rules: [
      { request_headers: { set: { "X-Env": "prod" }, remove: ["X-Secret"] } },
      { response_headers: { set: { "Strict-Transport-Security": "max-age=1" }, remove: ["X-Powered-By"] } }
    ],
    steps: [
      {
        ask: { headers: { "x-secret": "1", x_env: "dev", "x-kept": "yes" } },
        status: 200,
        reaches: true,
        fields: { "strict-transport-security": "max-age=1", "x-powered-by": undefined },
        seen: { "x-env": "prod", "x-secret": undefined, x_env: undefined, "x-kept": "yes" }
      }
    ]
  },
  {
    name: "pages of other origins",
    rules: [{ cors: { origins: [app], credentials: true, max_age: 60 } }],
    steps: [
      {
        ask: {
          method: "OPTIONS",
          headers: { origin: app, "access-control-request-method": "PUT", "access-control-request-headers": "x-a" }
        },
        status: 200,
        reaches: false,
        fields: {
          "access-control-allow-origin": app,
          "access-control-allow-headers": "x-a",
          "access-control-allow-credentials": "true",
          "access-control-max-age": "60"
        }
      },
      {
        ask: { headers: { origin: app } },
        status: 200,
        reaches: true,
        fields: { "access-control-allow-origin": app, vary: "Accept, Origin" }
      }
    ]
  },
  {
    name: "bodies that are longer than they may be",
    rules: [{ max_body: "1 KiB" }],
    steps: [
      { ask: { method: "POST", body: "x".repeat(1024) }, status: 200, reaches: true },
      {
        ask: { method: "POST", headers: { "content-length": "1025" }, body: "x".repeat(1025) },
        status: 413,
        reaches: false
      }
    ]
  },
  {
    name: "a rate",
    rules: [{ rate_limit: { per: "address", rate: "2/1h" } }],
    steps: [
      { ask: {}, status: 200, reaches: true },
      { ask: {}, status: 200, reaches: true },
      { ask: {}, status: 429, fields: { "retry-after": "1800" }, reaches: false }
    ]
  },
  {
    name: "a name and a password",
    rules: [{ basic_auth: { users: [ada] } }],
    steps: [
      {
        ask: {},
        status: 401,
        reaches: false,
        fields: { "www-authenticate": 'Basic realm="This service", charset="UTF-8"' }
      },
      { ask: { headers: basic("ada:secret") }, status: 401, reaches: false },
      { ask: { headers: basic("eve:s:ecret") }, status: 401, reaches: false },
      { ask: { headers: basic("ada:s:ecret") }, status: 200, reaches: true, seen: { authorization: undefined } }
    ]
  },
  {
    name: "a login that the tunnel does not ask for",
    rules: [{ require_login: true }],
    steps: [{ ask: {}, status: 401, reaches: false }]
  }
]

const read = Schema.decodeUnknownSync(Rules)

/** Runs all cases. Each has its own counters, so that `setRules` begins anew. */
export const holdRules = async (
  setRules: (rules: Rules) => Promise<void>,
  ask: Ask,
  reached: () => number
): Promise<void> => {
  for (const { name, rules, steps } of ruleCases) {
    await setRules(read(rules))
    for (const { ask: asked, fields = {}, reaches, seen = {}, status } of steps) {
      const before = reached()
      const answer = await ask(asked)
      assert.strictEqual(answer.status, status, `${name}: ${answer.body}`)
      assert.strictEqual(reached() > before, reaches, `${name}: reached`)
      for (const [field, value] of Object.entries(fields)) assert.deepEqual(answer.headers[field], value, name)
      if (reaches) {
        const { headers } = JSON.parse(answer.body) as { readonly headers: Readonly<Record<string, string>> }
        for (const [field, value] of Object.entries(seen))
          assert.strictEqual(headers[field], value, `${name}: ${field}`)
      } else if (status === 403) {
        assert.notMatch(answer.body, /allow|10\.0\.0|rule/iu, "the page names no rule")
      }
    }
  }
}
