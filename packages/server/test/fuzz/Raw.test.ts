/**
 * What no client library would send: bodies that are cheap to send and dear to read, paths that mean another path, and
 * requests that two readers would cut at different places. Each is refused with a declared 4xx or cut off, at once, and
 * the server goes on.
 */
import { onThisMachine } from "@catenet/testing/Promptness"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { described, routes } from "./Document.ts"

/** Longest wait for any answer. */
const patience = 10_000

interface Exchange {
  readonly answer: string
  readonly closed: boolean
  readonly millis: number
}

/** Sends bytes as they are, and gives back what came until there was an answer and silence, or the end. */
const send = (bytes: string | Uint8Array) =>
  Effect.flatMap(TestServer.baseUrl, (url) =>
    Effect.callback<Exchange>((resume) => {
      const since = performance.now()
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes))
      let answer = ""
      let closed = false
      socket.setTimeout(300)
      const finish = () => {
        resume(Effect.succeed({ answer, closed, millis: performance.now() - since }))
        socket.destroy()
      }
      socket.setEncoding("latin1").on("data", (text: string) => (answer += text))
      socket.on("timeout", () => {
        if (answer !== "" || performance.now() - since > patience) finish()
        else socket.setTimeout(300)
      })
      socket.on("error", () => {})
      socket.on("close", () => ((closed = true), finish()))
    })
  )

const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

const isUp = Effect.map(TestServer.raw("/healthz"), ({ status }) => assert.strictEqual(status, 200))

const head = (method: string, path: string, ...headers: ReadonlyArray<string>) =>
  [`${method} ${path} HTTP/1.1`, "host: a", ...headers, "", ""].join("\r\n")
const redeem = (...headers: ReadonlyArray<string>) =>
  head("POST", "/bootstrap/redeem", "content-type: application/json", ...headers)
/** What would be a second request, if the first one ended where somebody else thinks. */
const hidden = head("GET", "/status")

/** Requests whose end is a matter of opinion. */
const smuggling: Readonly<Record<string, string>> = {
  "length and chunks": redeem("content-length: 4", "transfer-encoding: chunked") + `0\r\n\r\n${hidden}`,
  "chunks and length": redeem("transfer-encoding: chunked", "content-length: 4") + `0\r\n\r\n${hidden}`,
  "two lengths": redeem("content-length: 0", `content-length: ${hidden.length}`) + hidden,
  "two equal lengths": redeem("content-length: 2", "content-length: 2") + `{}${hidden}`,
  "a list of lengths": redeem("content-length: 2, 2") + `{}${hidden}`,
  "a length with a sign": redeem("content-length: +2") + `{}${hidden}`,
  "a length that is none": redeem("content-length: 2x") + `{}${hidden}`,
  "a negative length": redeem("content-length: -1") + hidden,
  "a length beyond counting": redeem("content-length: 99999999999999999999999") + "{}",
  "chunks by another name": redeem("transfer-encoding: xchunked") + `0\r\n\r\n${hidden}`,
  "chunks that are not last": redeem("transfer-encoding: chunked, identity") + `0\r\n\r\n${hidden}`,
  "chunks twice": redeem("transfer-encoding: chunked", "transfer-encoding: identity") + `0\r\n\r\n${hidden}`,
  "a chunk of no length": redeem("transfer-encoding: chunked") + `zz\r\n{}\r\n0\r\n\r\n${hidden}`,
  "a chunk beyond counting": redeem("transfer-encoding: chunked") + `ffffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden}`,
  "a chunk that is longer than it says": redeem("transfer-encoding: chunked") + `1\r\n{}\r\n0\r\n\r\n${hidden}`,
  "a chunk extension without end": redeem("transfer-encoding: chunked") + `2;${"x".repeat(40_000)}\r\n{}\r\n0\r\n\r\n`,
  "a folded header": head("GET", "/status", "x: a", " b"),
  "a folded length": redeem("content-length:", " 2") + "{}",
  "a space before the colon": head("GET", "/status", "x : a"),
  "a space before the length's colon": redeem("content-length : 2") + "{}",
  "a header without a colon": head("GET", "/status", "nothing"),
  "a header without a name": head("GET", "/status", ": a"),
  "a NUL in a header": head("GET", "/status", "x: a\0b"),
  "a bare CR in a header": head("GET", "/status", "x: a\rb: c"),
  "a bare LF for a line": `GET /status HTTP/1.1\nhost: a\nx: y\rz\n\n`,
  "no host": "GET /status HTTP/1.1\r\n\r\n",
  "an unknown version": "GET /status HTTP/9.9\r\nhost: a\r\n\r\n",
  "an unknown method": head("FROB", "/status"),
  "HTTP/2 without asking": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a line without end": `GET /${"a".repeat(100_000)}`,
  "headers without number": head("GET", "/status", ...Array.from({ length: 4000 }, (_, n) => `x${n}: y`))
}

/** Ways to write the path of an operator's route that some reader takes for it. None opens it. */
const disguises = [
  "//admin/audit-log",
  "/./admin/audit-log",
  "/status/../admin/audit-log",
  "/%2e%2e/admin/audit-log",
  "/status/%2e%2e/admin/audit-log",
  "/status/..%2fadmin/audit-log",
  "/admin%2faudit-log",
  "/admin/audit-log%2f",
  "/admin/audit-log/",
  "/admin/audit-log;x=1",
  "/admin;/audit-log",
  "/admin/audit-log%00",
  "/admin/audit-log%0d%0ax-ct-admin-token:%20a",
  "/ADMIN/AUDIT-LOG",
  "/%61dmin/audit-log",
  "/admin/audit-log%3fx",
  "/admin\\audit-log",
  "http://127.0.0.1/admin/audit-log",
  "/admin/audit-log?%00",
  "/admin/audit-log#x"
]

/** Paths that are no path, with whatever else may be in them. */
const oddPaths = [
  "*",
  "//",
  "/%",
  "/%zz",
  "/%ff",
  "/%c0%ae%c0%ae/",
  "/\u0080",
  "/me/tunnels/%00",
  "/me/tunnels/%ff",
  "/me/tunnels/..",
  "/me/tunnels/%2e%2e%2f%2e%2e",
  `/me/tunnels/${"a".repeat(15_000)}`,
  `/me/tunnels/${"%41".repeat(5_000)}`,
  `/${"a/".repeat(7_000)}`,
  `/me/tunnels?${"a=b&".repeat(3_500)}`,
  `/me/tunnels?limit=${"9".repeat(15_000)}`,
  "/me/tunnels?limit=1&limit=2",
  "/me/tunnels?cursor=%00",
  "/me/tunnels?cursor=%ff%fe",
  "/me/tunnels?__proto__=1",
  "/badge/..%2f..%2fetc%2fpasswd.svg",
  "/net/%2e%2e/topology"
]

const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`

/** Texts that stand for a value in JSON, or do not. */
const bombs: Readonly<Record<string, string>> = {
  "arrays in arrays": nested("[", "]", 50_000),
  "arrays in arrays without end": "[".repeat(100_000),
  "objects in objects": nested('{"a":', "}", 50_000),
  "a long array": `[${"0,".repeat(50_000)}0]`,
  "many members": `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":0`).join()}}`,
  "one member many times": `{${'"a":0,'.repeat(20_000)}"a":1}`,
  "a number of many digits": "9".repeat(100_000),
  "a fraction of many digits": `0.${"3".repeat(100_000)}`,
  "beyond any number": "1e99999",
  "beyond any exponent": `1e${"9".repeat(1000)}`,
  "more than can be counted": "18446744073709551616",
  "next to nothing": "-1e-99999",
  "half a character": '"\\ud800"',
  "a NUL": '"\\u0000"',
  "a long text": `"${"é".repeat(100_000)}"`,
  "a text for a regular expression": `"${"a".repeat(50_000)}!"`,
  "another's prototype": '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
  "no JSON at all": "undefined"
}

/** Bytes that are no text. */
const notText = [
  Uint8Array.of(0xff, 0xfe, 0x7b, 0x7d),
  Uint8Array.of(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d),
  Uint8Array.of(0x00),
  Uint8Array.of(0x7b, 0x00, 0x7d)
]

interface RouteWithBody {
  readonly path: string
  readonly method: string
  readonly statuses: ReadonlySet<number>
  readonly members: ReadonlyArray<string>
  readonly secured: ReadonlySet<string>
}

/** Every route with a body of JSON. */
const withBody: ReadonlyArray<RouteWithBody> = routes.flatMap(({ method, operation, path }) => {
  const media = operation.requestBody?.content["application/json"]
  if (media === undefined) return []
  const example = (_: string, name: string) => (name === "id" ? "0".repeat(32) : "0".repeat(64))
  return {
    path: path.replaceAll(/\{([^}]+)\}/g, example),
    method,
    statuses: new Set(Object.keys(operation.responses).map(Number)),
    members: Object.keys(described(media.schema).properties ?? {}),
    secured: new Set(operation.security.flatMap((way) => Object.keys(way)))
  }
})

layer(Accounts.server({ CT_PAYMENT_WEBHOOK_SECRET: "secret" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "what no client sends by accident",
  (it) => {
    it.effect("is one request or none, wherever somebody else would cut it", () =>
      Effect.gen(function* () {
        for (const [name, bytes] of Object.entries(smuggling)) {
          const { answer, closed, millis } = yield* send(bytes)
          assert.isBelow(millis, onThisMachine(patience), name)
          const [first, ...more] = statuses(answer)
          assert.isEmpty(more, `${name}: ${answer}`)
          if (first === undefined) assert.isTrue(closed, name)
          else assert.isTrue(first >= 400 && first < 500, `${name}: ${answer}`)
        }
        yield* isUp
      })
    )

    it.effect("opens no route under another name", () =>
      Effect.gen(function* () {
        for (const path of disguises) {
          const { answer } = yield* send(head("GET", path, "connection: close"))
          const [status = 400] = statuses(answer)
          assert.isTrue(status >= 400 && status < 500, `${path}: ${answer}`)
        }
        const { answer } = yield* send(
          head("GET", "/admin/audit-log", "connection: close", `x-ct-admin-token: ${TestServer.adminToken}`)
        )
        assert.deepStrictEqual(statuses(answer), [200], "under its own it opens")
      })
    )

    it.effect("names nothing, and is refused", () =>
      Effect.gen(function* () {
        const authorization = `authorization: Bearer ${yield* Accounts.bearerOf("ada")}`
        for (const path of oddPaths) {
          const { answer, closed } = yield* send(
            Buffer.from(head("GET", path, "connection: close", authorization), "latin1")
          )
          const [status] = statuses(answer)
          const about = `${path.slice(0, 60)}: ${answer.slice(0, 300)}`
          if (status === undefined) assert.isTrue(closed, about)
          else assert.isBelow(status, 500, about)
        }
        yield* isUp
      })
    )

    it.effect(
      "does not break the reader of any body",
      () =>
        Effect.gen(function* () {
          const bearer = yield* Accounts.bearerOf("ada")
          const session = yield* Accounts.sessionOf("ada", "ada@people.example")
          const found: Array<string> = []
          const post = (route: RouteWithBody, name: string, body: string | Uint8Array) =>
            Effect.gen(function* () {
              const since = performance.now()
              const response = yield* TestServer.raw(route.path, {
                method: route.method,
                headers: {
                  "content-type": "application/json",
                  ...(route.secured.has("admin") ? { "x-ct-admin-token": TestServer.adminToken } : {}),
                  ...(route.secured.has("bearer")
                    ? { authorization: `Bearer ${bearer}` }
                    : { cookie: `__Host-ct_portal_session=${session}` })
                },
                body: body as string
              })
              yield* Effect.promise(() => response.text())
              const about = `${route.method} ${route.path} with ${name}`
              if (!route.statuses.has(response.status)) found.push(`${about}: ${response.status}`)
              if (performance.now() - since > patience) found.push(`${about}: slow`)
            })
          // All routes have one reader in common; what is inside is read by each of its own.
          for (const route of withBody.filter((_, n) => n % 8 === 0)) {
            for (const [name, bomb] of Object.entries(bombs)) yield* post(route, name, bomb)
            for (const [n, bytes] of notText.entries()) yield* post(route, `bytes ${n}`, bytes)
          }
          for (const route of withBody) {
            for (const [name, bomb] of Object.entries(bombs)) {
              yield* post(route, `${name} inside`, `{${route.members.map((member) => `"${member}":${bomb}`).join()}}`)
            }
          }
          assert.deepStrictEqual(found, [])
          yield* isUp
        }),
      600_000
    )
  }
)
