/**
 * curl as a visitor of origins of other makers: each request comes to the origin in the same bytes by all four ways, and the visitor sees
 * what one without a proxy sees.
 */
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { readWritten } from "../../differential/Written.ts"
import { skipped } from "../../interop/GoPrograms.ts"
import * as Ways from "../Ways.ts"
import type { Path, Way } from "../Ways.ts"
import { type Ability, type Running, startAll } from "./ForeignPrograms.ts"

const hasCurl = spawnSync("curl", ["--version"]).stdout?.toString().includes("HTTP2") === true
if (!hasCurl) skipped("origins of other makers", "there is no `curl` that speaks HTTP/2 (package curl)")

interface Recorded extends Running {
  /** In front of its plain port. */
  readonly recorder: number
  /** What has been written to it, a text for each connection. */
  readonly connections: Array<() => string>
  /** What a visitor without a proxy sees. */
  readonly direct: ReadonlyArray<string>
}

/** A request of the one sequence that every origin is asked in, on one connection. */
interface Exchange {
  readonly target: string
  readonly method?: "HEAD" | "POST" | "PATCH"
  readonly fields?: ReadonlyArray<string>
  readonly body?: string
  /** The body comes without a length. */
  readonly isOpen?: boolean
  readonly needs?: Ability
}

const exchanges: ReadonlyArray<Exchange> = [
  { target: "/?a=b%20c&d=/../e" },
  { target: "/", method: "HEAD" },
  { target: "/", method: "POST", body: "p".repeat(300) },
  { target: "/", method: "POST", body: "c".repeat(70_000), isOpen: true },
  { target: "/", method: "PATCH", body: '{"a":1}', fields: ["content-type: application/json"] },
  { target: "/tall" },
  { target: "/cookies", fields: ["cookie: a=1; __Host-ct_gate_session=s; b=2"] },
  { target: "/none" },
  { target: "/moved" },
  { target: "/missing" },
  { target: "/file", needs: "files" },
  { target: "/file", needs: "files", fields: ["range: bytes=5-9"] },
  { target: "/file", needs: "files", fields: ["if-modified-since: Sat, 01 Jan 2050 00:00:00 GMT"] },
  { target: "/stream", needs: "streams" },
  { target: "/trailers", needs: "trailers", fields: ["te: trailers"] },
  { target: "/hints", needs: "hints" }
]

const askedOf = ({ abilities }: Running) =>
  exchanges.filter(({ needs }) => needs === undefined || abilities.includes(needs))

/** Of every request, in lower case as HTTP/2 has them; the last ones are not for a visitor to say. */
const own = (n: number, { body, fields = [] }: Exchange) => [
  "user-agent: a visitor",
  "accept: */*",
  `x-request-id: exchange-${n}`,
  ...(body === undefined || fields.some((field) => field.startsWith("content-type"))
    ? []
    : ["content-type: text/plain"]),
  ...fields
]
const lies = ["x-forwarded-for: 203.0.113.66", "x_forwarded_for: 203.0.113.66", "x-gate-email: root@victim.example"]

/** What the origin is to see of it. */
const expected = (n: number, exchange: Exchange) => {
  const { body = "", isOpen, method = exchange.body === undefined ? "GET" : "POST", target } = exchange
  const fields = own(n, exchange)
    .filter((field) => !field.startsWith("te:"))
    .map((field) => field.replace("__Host-ct_gate_session=s; ", ""))
  const framing =
    isOpen === true ? ["Transfer-Encoding: chunked"] : body === "" ? [] : [`Content-Length: ${body.length}`]
  return [
    `${method} ${target}`,
    "Host: HOST",
    ...fields,
    ...framing,
    ...(exchange.fields?.includes("te: trailers") === true ? ["TE: trailers"] : []),
    "X-Forwarded-For: 127.0.0.1",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: HOST",
    "X-Forwarded-Port: PORT",
    "X-Real-IP: 127.0.0.1",
    'Forwarded: for=127.0.0.1;host="HOST";proto=https',
    "",
    body
  ].join("\n")
}

/** What came to the origin of the exchange, but for `Connection`, which is between it and the proxy. */
const received = ({ connections }: Recorded, n: number, from: number, { host, port }: Way) => {
  // The agent looks at its origins by connections of its own.
  const asked = connections.slice(from).flatMap((text) => (text().includes("exchange-") ? [text()] : []))
  const all = asked.flatMap(readWritten)
  const found = all.filter(({ fields }) => fields.some(([, value]) => value === `exchange-${n}`))
  return found.map(({ body, fields, method, target }) => {
    const lines = fields.flatMap(([name, value]) => (name === "Connection" ? [] : [`${name}: ${value}`]))
    return [`${method} ${target}`, ...lines, "", body]
      .join("\n")
      .replaceAll(`${host}:${port}`, "HOST")
      .replace(`-Port: ${port}\n`, "-Port: PORT\n")
  })
}

const curl = (args: ReadonlyArray<string>, input = "") =>
  Effect.callback<{ readonly code: number; readonly out: string }>((resume) => {
    const child = execFile("curl", ["-sS", "--max-time", "100", ...args], { maxBuffer: 1_000_000 }, (error, out, err) =>
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` }))
    )
    child.stdin?.on("error", () => undefined).end(input)
  })

/** Between two hops, or of the moment. */
const isLocal = (line: string) =>
  /^(?:date|connection|keep-alive|transfer-encoding|trailer|alt-svc):/i.test(line) || line === ""

/** Heads, informational ones too, trailers and the body, in a form that all versions of HTTP share. */
const seenOf = (head: string, body: string) => {
  const lines = head.split("\r\n").map((line) => {
    const status = /^HTTP\/\S+ (\d{3})/.exec(line)?.[1]
    const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? []
    return status ?? (name === "" ? "" : `${name.toLowerCase()}: ${value}`)
  })
  return [...lines.filter((line) => !isLocal(line)), "", body].join("\n")
}

/** What a visitor sees that asks for all of it in the given way. */
const ask = Effect.fnUntraced(function* (origin: Running, base: string, way: ReadonlyArray<string>) {
  const folder = mkdtempSync(join(temporaryRoot(), "catenet-curl-"))
  const list = askedOf(origin)
  const args = list.flatMap((exchange, n) => {
    const { body, isOpen, method, target } = exchange
    const upload = body === undefined ? [] : isOpen === true ? ["-T", "-"] : ["--data-binary", body]
    return [
      ...(n === 0 ? [] : ["--next", "-sS"]),
      ...way,
      ...[...own(n, exchange), ...lies, "expect:"].flatMap((field) => ["-H", field]),
      ...(method === "HEAD" ? ["-I"] : method === undefined ? [] : ["-X", method]),
      ...upload,
      "--path-as-is",
      "-D",
      join(folder, `${n}.head`),
      "-o",
      join(folder, `${n}.body`),
      `${base}${target}`
    ]
  })
  const input = list.find(({ isOpen }) => isOpen)?.body
  const { code, out } = yield* curl(args, input)
  assert.deepStrictEqual({ code, out }, { code: 0, out: "" }, `curl at ${origin.name}`)
  const text = (name: string) => {
    try {
      return readFileSync(join(folder, name), "latin1")
    } catch {
      return ""
    }
  }
  const seen = list.map(({ method }, n) => seenOf(text(`${n}.head`), method === "HEAD" ? "" : text(`${n}.body`)))
  rmSync(folder, { recursive: true, force: true })
  return seen
})

/** Passes on to the port, and keeps what comes. */
const recorded = Effect.fnUntraced(function* (running: Running) {
  const connections: Array<() => string> = []
  const recorder = yield* Ways.listening(
    createServer({ allowHalfOpen: true, noDelay: true }, (incoming) => {
      const chunks: Array<Buffer> = []
      connections.push(() => Buffer.concat(chunks).toString("latin1"))
      const outgoing = connect({ port: running.plain, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("error", () => outgoing.destroy()).pipe(outgoing)
      outgoing.on("error", () => incoming.destroy()).pipe(incoming)
    })
  )
  const direct = yield* ask(running, `http://127.0.0.1:${running.plain}`, ["--http1.1"])
  return { ...running, recorder: Ways.portOf(recorder), connections, direct } satisfies Recorded
})

/** Those that are on this machine. */
export class Foreign extends Context.Service<Foreign, ReadonlyArray<Recorded>>()("stack/test/proxy/fourWays/Foreign") {
  static readonly layer = Layer.effect(
    Foreign,
    Effect.flatMap(hasCurl ? startAll : Effect.succeed([]), (running) => Effect.forEach(running, recorded))
  )
}

const nameOf = ({ name }: Running) => `foreign-${name}`
const briskOf = ({ name }: Running) => `brisk-${name}`

export const services = Effect.map(Foreign, (origins) =>
  Object.fromEntries(
    origins.flatMap((origin): ReadonlyArray<readonly [string, Ways.Service]> => [
      [nameOf(origin), { to: origin.recorder }],
      [briskOf(origin), { to: origin.brisk }]
    ])
  )
)

const wayOf = ({ host, port }: Way, { version }: Path, ca: string) => ({
  base: `https://${host}:${port}`,
  args: [`--http${version}`, "--cacert", ca, "--resolve", `${host}:${port}:127.0.0.1`]
})

/** The root of the way in a file. */
const withRoot = (way: Way) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(temporaryRoot(), "catenet-root-"))
      writeFileSync(join(folder, "ca.pem"), way.ca)
      writeFileSync(join(folder, "upload"), Buffer.alloc(700_000, 7))
      return { ca: join(folder, "ca.pem"), upload: join(folder, "upload"), folder }
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

export const cases = (path: Path) => ({
  "has each request come to each origin in the same bytes, and sees what one without a proxy sees": Effect.gen(
    function* () {
      const { wayTo } = yield* Ways.Services
      for (const origin of yield* Foreign) {
        const way = wayTo(nameOf(origin), path)
        const from = origin.connections.length
        const { args, base } = wayOf(way, path, (yield* withRoot(way)).ca)
        const seen = yield* ask(origin, base, args)
        for (const [n, exchange] of askedOf(origin).entries()) {
          const what = `${origin.name}, ${exchange.method ?? "GET"} ${exchange.target} ${exchange.fields?.join() ?? ""}`
          assert.deepStrictEqual(received(origin, n, from, way), [expected(n, exchange)], what)
          assert.strictEqual(seen[n], origin.direct[n], what)
        }
      }
    }
  ),

  "is served after an origin has closed idle connections, and hears of refused uploads": Effect.gen(function* () {
    const { wayTo } = yield* Ways.Services
    yield* Effect.forEach(
      (yield* Foreign).filter(({ abilities }) => abilities.includes("refuses uploads")),
      Effect.fnUntraced(function* (origin) {
        const way = wayTo(briskOf(origin), path)
        const { ca, upload } = yield* withRoot(way)
        const { args, base } = wayOf(way, path, ca)
        const status = [
          "-w",
          "%{http_code} ",
          ...Array.from({ length: 3 }, () => ["-o", "/dev/null", `${base}/`]).flat()
        ]
        const uploads = yield* curl([...args, "-H", "Expect:", "--data-binary", `@${upload}`, ...status])
        // Once curl reads 413 it ends an upload short of its length, which over HTTP/2 may be an error of the protocol (92).
        assert.include(path.version === "2" ? [0, 92] : [0], uploads.code, origin.name)
        assert.isTrue(uploads.out.startsWith("413 413 413 "), `${origin.name}: ${uploads.out}`)
        // Two requests a second, on one connection.
        const paced = yield* curl([...args, "--rate", "120/m", ...status])
        assert.deepStrictEqual(paced, { code: 0, out: "200 200 200 " }, origin.name)
      }),
      { concurrency: "unbounded", discard: true }
    )
  })
})
