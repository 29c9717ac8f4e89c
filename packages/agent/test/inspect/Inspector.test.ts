/**
 * The inspector from end to end: what it records of visits in both tiers and each version, and who may read it. One file, since all
 * share the origin, the ports and the inspector.
 */
import { untilSuccess } from "@catenet/testing/Eventually"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { WebSocket } from "ws"
import type { Detail, Summary } from "../../src/inspect/ExchangeView.ts"
import type { archive } from "../../src/inspect/Har.ts"
import type { Inspector } from "../../src/inspect/InspectServer.ts"
import type { Recording } from "../../src/inspect/Recording.ts"
import { mask } from "../../src/inspect/Secrets.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import { host } from "../harness/TerminatingPort.ts"
import { hostile, open } from "./Visits.ts"

class Visits extends Context.Service<
  Visits,
  {
    readonly recording: Recording
    readonly inspector: Inspector
    /** Ports that visitors reach. */
    readonly gelb: number
    readonly gruen: { readonly port: number; readonly authority: { readonly pem: string } }
    /** Behind it no origin listens. */
    readonly dead: number
    readonly faults: () => number
  }
>()("test/Visits") {
  static readonly layer = Layer.effect(this, open)
}

const folder = temporaryFolders("ct-inspect-")()

/** curl as a visitor; `arguments_` say the version and the path. */
const curl = Effect.fnUntraced(function* (tier: "gelb" | "gruen", path: string, ...more: ReadonlyArray<string>) {
  const { gelb, gruen } = yield* Visits
  const pem = join(folder, "root.pem")
  writeFileSync(pem, gruen.authority.pem)
  const where =
    tier === "gelb"
      ? [`http://127.0.0.1:${gelb}${path}`, "-H", "Host: gelb.example"]
      : [`https://${host}:${gruen.port}${path}`, "--cacert", pem, "--resolve", `${host}:${gruen.port}:127.0.0.1`]
  const { stdout } = yield* Effect.promise(() => promisify(execFile)("curl", ["-sS", "-g", ...where, ...more]))
  return stdout
})

const ask = Effect.fnUntraced(function* (path: string, init: RequestInit = {}, bearer?: string) {
  const { inspector } = yield* Visits
  const headers = new Headers(init.headers)
  if (!headers.has("authorization")) headers.set("authorization", `Bearer ${bearer ?? inspector.token}`)
  return yield* Effect.promise(() =>
    fetch(`http://127.0.0.1:${inspector.port}${path}`, { redirect: "manual", ...init, headers })
  )
})
const json = <A>(path: string, init?: RequestInit) =>
  Effect.flatMap(ask(path, init), (answer) => Effect.promise(() => answer.json() as Promise<A>))

const words = (path: string) => Effect.flatMap(ask(path), (answer) => Effect.promise(() => answer.text()))

/** The newest request of this path, once it is over. */
const recorded = Effect.fnUntraced(function* (path: string, query = "") {
  const found = json<{ readonly requests: ReadonlyArray<Summary> }>("/api/requests").pipe(
    Effect.flatMap(({ requests }) => {
      const one = requests.find(({ state, target }) => target.startsWith(path) && state !== "running")
      return one === undefined ? Effect.fail("not yet") : Effect.succeed(one)
    })
  )
  const { id } = yield* untilSuccess(found)
  return yield* json<Detail & { readonly curl: string }>(`/api/requests/${id}${query}`)
})

const valueOf = ({ headers }: Detail["request"], key: string) =>
  headers.find(({ name }) => name.toLowerCase() === key)?.value

layer(Visits.layer, { excludeTestServices: true, timeout: "120 seconds" })("the inspector", (it) => {
  for (const [tier, version] of [
    ["gelb", "--http1.1"],
    ["gruen", "--http1.1"],
    ["gruen", "--http2"]
  ] as const)
    it.effect(`records request and response of a visit (${tier}, ${version.slice(2)})`, () =>
      Effect.gen(function* () {
        const body = "x".repeat(50_000)
        const sent = join(folder, "sent")
        writeFileSync(sent, body)
        const path = `/json?via=${tier}${version}`
        assert.include(yield* curl(tier, path, version, "--data-binary", `@${sent}`), body)
        const one = yield* recorded(path)
        assert.deepStrictEqual(
          [one.method, one.status, one.state, one.kind, one.tls_ended_by, one.http_version],
          ["POST", 200, "complete", "http", tier === "gelb" ? "edge" : "agent", version === "--http2" ? "2" : "1.1"]
        )
        assert.strictEqual(one.client, tier === "gelb" ? "192.0.2.7" : "127.0.0.1")
        assert.strictEqual(one.request.body.text, body)
        assert.strictEqual(one.response?.body.text, JSON.stringify({ got: body }))
        assert.isNull(one.timing.edge)
        const { connect, receive, send, total, wait } = one.timing
        for (const millis of [connect, send, wait, receive, total]) assert.isAtLeast(millis ?? -1, 0)
        assert.isAtLeast(total ?? 0, Math.max(wait ?? 0, receive ?? 0))
      })
    )

  it.effect("keeps requests of one connection apart", () =>
    Effect.gen(function* () {
      const { gelb } = yield* Visits
      yield* curl(
        "gelb",
        "/first",
        "--next",
        "-sS",
        `http://127.0.0.1:${gelb}/second`,
        "-I",
        "--next",
        "-sS",
        `http://127.0.0.1:${gelb}/missing`
      )
      const [first, second, third] = [
        yield* recorded("/first"),
        yield* recorded("/second"),
        yield* recorded("/missing")
      ]
      assert.deepStrictEqual(
        [first.response?.body.text, second.method, second.response?.body.bytes],
        ["GET /first", "HEAD", 0]
      )
      assert.deepStrictEqual([third.status, third.timing.connect, second.timing.connect], [404, null, null])
      assert.isNotNull(first.timing.connect)
    })
  )

  it.effect("unpacks bodies that are compressed, and says which are no text", () =>
    Effect.gen(function* () {
      yield* curl("gelb", "/gzip", "--compressed")
      yield* curl("gelb", "/binary", "-o", join(folder, "binary"))
      const packed = yield* recorded("/gzip")
      assert.strictEqual(packed.response?.body.text, "unpacked words")
      const { body } = (yield* recorded("/binary")).response ?? assert.fail()
      assert.deepStrictEqual([body.text, body.base64], [null, Buffer.from([0x89, 0x50, 0, 1, 2, 3]).toString("base64")])
      const saved = yield* ask(`/requests/${packed.id}/response-body`)
      assert.strictEqual(saved.headers.get("content-type"), "application/octet-stream")
      assert.strictEqual(Buffer.from(yield* Effect.promise(() => saved.arrayBuffer())).toString("hex", 0, 2), "1f8b")
    })
  )

  it.effect("says of a request why it got no whole response", () =>
    Effect.gen(function* () {
      const { dead } = yield* Visits
      yield* Effect.promise(() => fetch(`http://127.0.0.1:${dead}/unreached`).catch(() => undefined))
      const unreached = yield* recorded("/unreached")
      assert.deepStrictEqual([unreached.state, unreached.status], ["broken", null])
      assert.match(unreached.failure ?? "", /^origin 127\.0\.0\.1:1: .*ECONNREFUSED/u)
      yield* curl("gelb", "/torn").pipe(Effect.catchDefect(() => Effect.void))
      const torn = yield* recorded("/torn")
      assert.deepStrictEqual([torn.state, torn.status, torn.response?.body.text], ["broken", 200, "half"])
    })
  )

  it.effect("shows the frames of a WebSocket in both tiers, compressed ones too", () =>
    Effect.gen(function* () {
      const { gelb, gruen } = yield* Visits
      for (const [path, url] of [
        ["/ws-gelb", `ws://127.0.0.1:${gelb}/ws-gelb`],
        ["/ws-gruen", `wss://${host}:${gruen.port}/ws-gruen`]
      ] as const) {
        const lookup = (_: string, __: unknown, done: (error: null, found: ReadonlyArray<object>) => void) =>
          done(null, [{ address: "127.0.0.1", family: 4 }])
        const socket = new WebSocket(url, { ca: gruen.authority.pem, lookup: lookup as never })
        yield* Effect.callback<void>((resume) => {
          let left = 3
          socket.on("open", () => {
            socket.send("hello hello hello")
            socket.send("hello hello again")
            socket.send(Buffer.from([1, 2, 3]))
          })
          socket.on("message", () => --left === 0 && socket.close(1000, "enough"))
          socket.on("close", () => resume(Effect.void))
          socket.on("error", (error) => resume(Effect.die(error)))
        })
        const one = yield* recorded(path)
        assert.deepStrictEqual([one.kind, one.status, one.state], ["websocket", 101, "complete"])
        const of = (from: string) =>
          one.frames.filter((frame) => frame.from === from).map(({ kind, text }) => [kind, text ?? null])
        const said = [
          ["text", "hello hello hello"],
          ["text", "hello hello again"],
          ["binary", null],
          ["close", "1000 enough"]
        ]
        assert.deepStrictEqual(of("visitor"), said)
        assert.deepStrictEqual(of("origin"), said)
      }
    })
  )

  it.effect("shows events of a stream, and calls of MCP with their answers", () =>
    Effect.gen(function* () {
      yield* curl("gruen", "/events", "--http2", "-N")
      const stream = yield* recorded("/events")
      assert.deepStrictEqual(stream.kind, "sse")
      assert.deepStrictEqual(
        stream.events.map(({ data, event, id }) => [event, id ?? null, data]),
        [
          ["tick", "7", "one"],
          ["message", null, "two\nlines"]
        ]
      )
      const call = { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "search", arguments: { q: "x" } } }
      yield* curl("gelb", "/mcp", "-H", "Content-Type: application/json", "-d", JSON.stringify(call))
      const one = yield* recorded("/mcp")
      assert.deepStrictEqual([one.kind, one.calls], ["mcp", ["tools/call search"]])
      const [{ answer, name, params } = assert.fail()] = one.mcp
      assert.deepStrictEqual([name, params], ["search", call.params])
      assert.deepInclude(answer, { result: { content: [{ type: "text", text: "found it" }] } })
    })
  )

  it.effect("masks what gives access until it is asked to show it", () =>
    Effect.gen(function* () {
      yield* curl(
        "gelb",
        "/secret?page=2&access_token=abc123",
        "-H",
        "Authorization: Bearer top-secret",
        "-H",
        "Cookie: sid=c00kie-value; lang=de",
        "-H",
        "X-Api-Key: k3y"
      )
      const hidden = yield* recorded("/secret")
      const text = JSON.stringify(hidden)
      for (const secret of ["top-secret", "c00kie-value", "k3y", "abc123"]) assert.notInclude(text, secret)
      assert.strictEqual(hidden.target, `/secret?page=2&access_token=${mask}`)
      assert.strictEqual(valueOf(hidden.request, "authorization"), `Bearer ${mask}`)
      assert.strictEqual(valueOf(hidden.request, "cookie"), `sid=${mask}; lang=${mask}`)
      const shown = yield* recorded("/secret", "?secrets=shown")
      assert.strictEqual(valueOf(shown.request, "authorization"), "Bearer top-secret")
      assert.include(shown.curl, "access_token=abc123")
      for (const path of [`/requests/${shown.id}`, `/requests/${shown.id}/edit`, `/requests/${shown.id}.har`, "/"])
        assert.notMatch(yield* words(path), /top-secret|c00kie|k3y|abc123/u, path)
    })
  )

  it.effect("replays a request as it was, and edited with masked values as they were", () =>
    Effect.gen(function* () {
      yield* curl("gruen", "/json?n=1", "--http2", "-H", "Authorization: Bearer top-secret", "-d", "first")
      const one = yield* recorded("/json?n=1")
      const post = (body: string) => json<Detail>(`/api/requests/${one.id}/replay`, { method: "POST", body })
      const again = yield* post("")
      assert.deepStrictEqual([again.replay_of, again.status, again.request.body.text], [one.id, 200, "first"])
      const headers = one.request.headers
        .map(({ name, value }) => ({ name, value }))
        .concat({ name: "X-New", value: "1" })
      const edited = yield* post(JSON.stringify({ method: "PUT", target: "/json?n=2", headers, body: "second" }))
      assert.deepStrictEqual([edited.method, edited.response?.body.text], ["PUT", JSON.stringify({ got: "second" })])
      const sent = yield* json<Detail>(`/api/requests/${edited.id}?secrets=shown`)
      assert.deepStrictEqual(
        [valueOf(sent.request, "authorization"), valueOf(sent.request, "x-new")],
        ["Bearer top-secret", "1"]
      )
      const form = yield* ask(`/requests/${one.id}/replay`, { method: "POST" })
      assert.match(form.headers.get("location") ?? "", /^\/requests\/\d+$/u)
    })
  )

  it.effect("refuses to replay what is not whole or cannot be sent, and sends nothing", () =>
    Effect.gen(function* () {
      const { dead, recording } = yield* Visits
      yield* curl("gelb", "/json?odd=1", "-d", "x")
      const { id } = yield* recorded("/json?odd=1")
      yield* Effect.promise(() => fetch(`http://127.0.0.1:${dead}/gone`).catch(() => undefined))
      const gone = yield* recorded("/gone")
      const websocket = yield* recorded("/ws-gelb")
      const before = recording.list()[0]?.id
      for (const [at, body, status] of [
        [id, "{", 400],
        [id, JSON.stringify({ other: 1 }), 400],
        [id, JSON.stringify({ method: "GE T" }), 422],
        [id, JSON.stringify({ target: "http://elsewhere.example/" }), 422],
        [id, JSON.stringify({ target: "/a b" }), 422],
        [id, JSON.stringify({ target: "/a\r\nX: y" }), 422],
        [id, JSON.stringify({ headers: [{ name: "X", value: "1\r\nY: 2" }] }), 422],
        [id, JSON.stringify({ headers: [{ name: "Authorization", value: `Bearer ${mask}` }] }), 422],
        [gone.id, "", 502],
        [websocket.id, "", 409],
        [999_999, "", 404]
      ] as const) {
        const answer = yield* ask(`/api/requests/${at}/replay`, { method: "POST", body })
        assert.strictEqual(answer.status, status, body)
        assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
      }
      assert.strictEqual(recording.list()[0]?.id, before)
    })
  )

  it.effect("shows bytes of visitors and origins as text only", () =>
    Effect.gen(function* () {
      yield* curl("gelb", "/hostile?q=<script>", "-H", `X-Odd: ${hostile.replace(/[^\x20-\x7e]/gu, "")}`, "-d", hostile)
      const one = yield* recorded("/hostile")
      for (const path of ["/", `/requests/${one.id}`, `/requests/${one.id}/edit`, "/rows", "/?q=<script>alert"]) {
        const text = yield* words(path)
        assert.notMatch(text, /<script(?! src="\/script\.js" defer>)|<b>/u, path)
        for (const sign of ["\u001b", "\u202e"]) assert.notInclude(text, sign, path)
      }
    })
  )

  it.effect("finds requests by words in their address, fields and bodies", () =>
    Effect.gen(function* () {
      yield* curl("gelb", "/gzip?find=me", "--compressed", "-H", "X-Mark: violet")
      const { id } = yield* recorded("/gzip?find=me")
      const found = (query: string) =>
        Effect.map(
          json<{ readonly requests: ReadonlyArray<Summary> }>(`/api/requests?q=${encodeURIComponent(query)}`),
          ({ requests }) => requests.some((each) => each.id === id)
        )
      for (const query of ["find=me", "VIOLET", "unpacked words", "violet unpacked"])
        assert.isTrue(yield* found(query), query)
      for (const query of ["nowhere", "violet nowhere"]) assert.isFalse(yield* found(query), query)
      assert.include(yield* words("/?q=violet"), `/requests/${id}"`)
      assert.notInclude(yield* words("/?q=nowhere"), `/requests/${id}"`)
    })
  )

  it.effect("is for who has the token, from this machine's own address", () =>
    Effect.gen(function* () {
      const { inspector } = yield* Visits
      const { port, token } = inspector
      const status = (args: ReadonlyArray<string>, path = "/") =>
        Effect.promise(async () => {
          const { stdout } = await promisify(execFile)("curl", ["-s", "-i", ...args, `http://127.0.0.1:${port}${path}`])
          return stdout
        })
      const bearer = ["-H", `Authorization: Bearer ${token}`]
      const cookie = ["-H", `Cookie: ct_inspect_${port}=${token}`]
      for (const [args, path, expected] of [
        [[], "/", 401],
        [[], "/api/requests", 401],
        [[], `/?token=${token.slice(1)}`, 401],
        [["-H", "Authorization: Bearer x"], "/", 401],
        [["-H", `Cookie: ct_inspect_${port}=`], "/", 401],
        [cookie, "/", 200],
        [bearer, "/", 200],
        [bearer, "/nothing", 404],
        [bearer, "/requests/1/replay", 405],
        [[...bearer, "-H", `Host: localhost:${port}`], "/", 200],
        [[...bearer, "-H", "Host: rebound.example"], "/", 421],
        [[...bearer, "-H", `Host: rebound.example:${port}`], "/api/requests", 421],
        [[...cookie, "-X", "POST", "-H", "Origin: https://evil.example"], "/clear", 403],
        [[...cookie, "-X", "POST", "-H", "Sec-Fetch-Site: cross-site"], "/clear", 403],
        [[...cookie, "-X", "POST", "-H", "Origin: null"], "/requests/1/replay", 403]
      ] as const) {
        const answer = yield* status(args, path)
        assert.match(answer, new RegExp(`^HTTP/1.1 ${expected} `, "u"), `${path} ${args.join(" ")}`)
        assert.match(answer, /^content-security-policy: default-src 'none'; script-src 'self'/imu)
      }
      const first = yield* status([], `/requests/7?token=${token}&q=1`)
      assert.match(first, /^HTTP\/1.1 303 /u)
      assert.match(first, /^location: \/requests\/7\?q=1\r$/imu)
      assert.match(
        first,
        new RegExp(`^set-cookie: ct_inspect_${port}=${token}; Path=/; HttpOnly; SameSite=Strict\r$`, "imu")
      )
      assert.match(yield* status([], `//evil.example/?token=${token}`), /^location: \/evil/imu)
    })
  )

  it.effect("writes an archive of what it shows", () =>
    Effect.gen(function* () {
      yield* curl("gelb", "/json?in=har", "-d", "x", "-H", "Content-Type: text/plain")
      const { id } = yield* recorded("/json?in=har")
      const { log } = yield* json<ReturnType<typeof archive>>(`/api/requests.har?q=in%3Dhar`)
      const [entry = assert.fail()] = log.entries
      assert.deepStrictEqual([log.version, log.entries.length, entry.connection], ["1.2", 1, String(id)])
      assert.deepStrictEqual(
        [entry.request.method, entry.request.url, entry.request.postData?.text, entry.response.status],
        ["POST", "https://gelb.example/json?in=har", "x", 200]
      )
      const link = (query: string) =>
        Effect.map(words(`/${query}`), (text) => /href="(\/requests\.har[^"]*)"/u.exec(text)?.[1])
      assert.strictEqual(yield* link(""), "/requests.har")
      assert.strictEqual(yield* link("?q=in%3Dhar+%26&service=a+b"), "/requests.har?q=in%3Dhar+%26&#38;service=a+b")
    })
  )

  it.effect("has found no fault of its own, and forgets everything when it is told to", () =>
    Effect.gen(function* () {
      const { faults, recording } = yield* Visits
      assert.strictEqual(faults(), 0)
      assert.strictEqual((yield* ask("/api/requests", { method: "DELETE" })).status, 204)
      assert.deepStrictEqual([recording.list().length, recording.total], [0, 0])
    })
  )
})
