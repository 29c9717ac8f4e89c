import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { Hostname } from "@catenet/domain/values/Hostname"
import { until } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { account, type Address } from "@catenet/testing/server/gate/SignInServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { ask, askHttp2, browser, controlPlane, Edges, serve, upgrade } from "./GateStack.ts"

const email = Schema.decodeSync(Email)
const hostFrom = Schema.decodeSync(Hostname)
const nameFrom = Schema.decodeSync(TunnelName)
const sessionCookie = "__Host-ct_gate_session"

/** A tunnel of somebody's, served at both edges. */
const tunnel = Effect.fn("tunnel")(function* (
  host: string,
  change: Partial<TunnelChange> = {},
  owner: Address = "olga@example.test"
) {
  const { first, origin, second } = yield* Edges
  const { tunnelControls, tunnels } = yield* account(owner)
  const { id } = yield* tunnels.create({ headers: {}, payload: { name: nameFrom("site"), hostname: hostFrom(host) } })
  yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: true, ...change }) })
  for (const at of [first, second]) yield* serve(at, { id, host, owner, port: origin.port })
  return { id, tunnels, tunnelControls, params: { id } }
})

/** A browser that has signed in at the host; and what it shows there. */
const signedIn = Effect.fn("signedIn")(function* (host: string, person: Address) {
  const { first } = yield* Edges
  const self = browser(() => first)
  const seen = yield* self.visit(`https://${host}/`, person)
  assert.deepStrictEqual([seen.status, seen.text], [200, "the origin"])
  return { ...self, cookie: self.cookies(host) }
})

const forged = {
  "X-Gate-Email": "boss@example.test",
  x_gate_email: "boss@example.test",
  "X-Gate_Email": "boss@example.test",
  "x-gate-role": "admin"
}
const forgedLower = Object.fromEntries(Object.entries(forged).map(([name, value]) => [name.toLowerCase(), value]))
const forgedLines = Object.entries(forged).map(([name, value]) => `${name}: ${value}`)

/** Every field of the gate in what the origin heard. */
const gateFields = (raw: ReadonlyArray<string>) =>
  raw.flatMap((name, at) => (at % 2 === 0 && /^x[-_]gate/i.test(name) ? [`${name.toLowerCase()}: ${raw[at + 1]}`] : []))

layer(Edges.layer.pipe(Layer.provideMerge(controlPlane)), { excludeTestServices: true, timeout: "120 seconds" })(
  "the login gate of the edge",
  (it) => {
    it.effect("sends a visitor without a session to sign in and back, and no request reaches the origin before", () =>
      Effect.gen(function* () {
        const { first, origin, second } = yield* Edges
        const { params, tunnels } = yield* tunnel("cam.zone.test")
        yield* tunnels.allowVisitor({ params, payload: { email: email("vera@example.test") } })
        const before = origin.heard.length
        for (const at of [first, second]) {
          const { headers, status } = yield* Effect.promise(() => ask(at, "https://cam.zone.test/photos"))
          assert.strictEqual(status, 302)
          assert.match(
            headers.location ?? "",
            /\/gate\/start\?host=cam\.zone\.test&return=%2Fphotos&browser=[0-9a-f]{64}$/
          )
          assert.strictEqual((yield* Effect.promise(() => ask(at, "https://cam.zone.test/", {}, "POST"))).status, 401)
          assert.strictEqual(yield* Effect.promise(() => askHttp2(at, "cam.zone.test", forgedLower)), 302)
          const socket = yield* Effect.promise(() => upgrade(at, "cam.zone.test", forgedLines))
          assert.strictEqual(socket.status, 401)
        }
        assert.strictEqual(origin.heard.length, before)
        const vera = browser(() => first)
        const seen = yield* vera.visit("https://cam.zone.test/photos?year=2026", "vera@example.test")
        assert.deepStrictEqual([seen.at, seen.status], ["https://cam.zone.test/photos?year=2026", 200])
        assert.deepStrictEqual(
          origin.heard.slice(before).map(({ url }) => url),
          ["/photos?year=2026"]
        )
      }).pipe(Effect.scoped)
    )

    it.effect("writes X-Gate-Email itself, drops the visitor's X-Gate-* fields and the gate's cookies", () =>
      Effect.gen(function* () {
        const { first, origin } = yield* Edges
        const { params, tunnels } = yield* tunnel("named.zone.test")
        yield* tunnels.allowVisitor({ params, payload: { email: email("vera@example.test") } })
        yield* tunnel("open.zone.test", { require_login: false })
        const { cookie } = yield* signedIn("named.zone.test", "vera@example.test")
        const cookies = `a=1; ${cookie}; ct_gate_session=x; b=2`
        for (const [host, sent, expected] of [
          [
            "named.zone.test",
            cookies,
            ["x-gate-email: vera@example.test", "x-gate-subject: SUBJECT", "x-gate-assertion: JWT"]
          ],
          ["open.zone.test", "a=1; __Host-ct_gate_session=y; ct_gate_session=x; __Host-ct_gate_browser=z; b=2", []]
        ] as const) {
          const before = origin.heard.length
          const over1 = yield* Effect.promise(() =>
            ask(first, `https://${host}/`, { ...forged, cookie: sent, connection: "close, X-Gate-Email" })
          )
          const over2 = yield* Effect.promise(() => askHttp2(first, host, { ...forgedLower, cookie: sent }))
          const split = yield* Effect.promise(() => askHttp2(first, host, { ...forgedLower, cookie: sent.split("; ") }))
          const lines = [...forgedLines, ...sent.split("; ").map((pair) => `Cookie: ${pair}`)]
          const socket = yield* Effect.promise(() => upgrade(first, host, lines))
          socket.socket.destroy()
          assert.deepStrictEqual([over1.status, over2, split, socket.status], [200, 200, 200, 101])
          const heard = origin.heard.slice(before)
          assert.lengthOf(heard, 4)
          for (const { headers, raw } of heard) {
            const fields = gateFields(raw).map((field) =>
              field
                .replace(/^(x-gate-subject: )[^@]+$/, "$1SUBJECT")
                .replace(/^(x-gate-assertion: )eyJ[\w-]+\.[\w-]+\.[\w-]+$/, "$1JWT")
            )
            assert.deepStrictEqual(fields, [...expected])
            assert.strictEqual(headers.cookie, "a=1; b=2")
          }
        }
      }).pipe(Effect.scoped)
    )

    it.effect("accepts a cookie and a code at one host alone", () =>
      Effect.gen(function* () {
        const { first, origin, second } = yield* Edges
        yield* tunnel("mine.zone.test", { allow_any_login: true })
        yield* tunnel("mine2.zone.test", { allow_any_login: true })
        yield* tunnel("eves.zone.test", { allow_any_login: true }, "eve@example.test")
        const { jar } = yield* signedIn("mine.zone.test", "vera@example.test")
        const cookie = `${sessionCookie}=${jar("mine.zone.test").get(sessionCookie)}`
        const before = origin.heard.length
        for (const host of ["mine2.zone.test", "eves.zone.test"]) {
          for (const at of [first, second]) {
            assert.strictEqual((yield* Effect.promise(() => ask(at, `https://${host}/`, { cookie }))).status, 302)
            assert.strictEqual(yield* Effect.promise(() => askHttp2(at, host, { cookie })), 302)
            assert.strictEqual((yield* Effect.promise(() => upgrade(at, host, [`Cookie: ${cookie}`]))).status, 401)
          }
        }
        assert.strictEqual(origin.heard.length, before)
        assert.strictEqual(
          (yield* Effect.promise(() => ask(second, "https://mine.zone.test/", { cookie }))).status,
          200
        )

        const walker = browser(() => first)
        const begun = yield* walker.get("https://mine.zone.test/")
        const signed = yield* walker.visit(begun.headers.location ?? "", "vera@example.test")
        const code = signed.way.find((address) => address.includes("/.catenet/gate?code=")) ?? ""
        assert.include(code, "https://mine.zone.test/.catenet/gate?code=")
        assert.strictEqual((yield* walker.get(code)).status, 403, "a code is good once")
      }).pipe(Effect.scoped)
    )

    it.effect(
      "cuts within a second what a session, a list, a link or the switch no longer lets in, at every edge",
      () =>
        Effect.gen(function* () {
          const { first, second } = yield* Edges
          const { params, tunnelControls, tunnels } = yield* tunnel("live.zone.test")
          const host = "live.zone.test"
          const allow = tunnels.allowVisitor({ params, payload: { email: email("vera@example.test") } })
          const link = yield* tunnelControls.mintShareLink({ params, headers: {}, payload: { ttl: "1h" } })
          yield* allow

          const runs = (cookie: string) =>
            Effect.promise(() =>
              Promise.all([first, first, second].map((at) => upgrade(at, host, [`Cookie: ${cookie}`])))
            )
          const ends = Effect.fnUntraced(function* <E, R>(
            cookie: string,
            change: Effect.Effect<unknown, E, R>,
            then: number
          ) {
            const running = yield* runs(cookie)
            assert.deepStrictEqual(
              running.map(({ status }) => status),
              [101, 101, 101]
            )
            const at = performance.now()
            yield* change
            for (const { closed } of running)
              assert.isBelow((yield* Effect.promise(() => closed)) - at, onThisMachine(1_000))
            for (const edge of [first, second]) {
              assert.strictEqual((yield* Effect.promise(() => ask(edge, `https://${host}/`, { cookie }))).status, then)
            }
          })

          const vera = yield* signedIn(host, "vera@example.test")
          yield* ends(vera.cookie, vera.get(`https://${host}/.catenet/gate/logout`), 302)
          const again = yield* signedIn(host, "vera@example.test")
          const gone = { ...params, email: email("vera@example.test") }
          yield* ends(again.cookie, tunnels.disallowVisitor({ params: gone }), 302)

          const guest = browser(() => first)
          assert.strictEqual((yield* guest.visit(link.url)).status, 200)
          const revoked = tunnelControls.revokeShareLink({ params: { ...params, link_id: link.id } })
          yield* ends(guest.cookies(host), revoked, 302)

          const change = (required: boolean) =>
            tunnels.change({ params, payload: new TunnelChange({ require_login: required }) })
          yield* change(false)
          yield* ends("a=1", change(true), 302)

          yield* tunnels.change({ params, payload: new TunnelChange({ allow_any_login: true }) })
          const leaving = yield* signedIn(host, "vera@example.test")
          const { accounts } = yield* account("vera@example.test")
          yield* ends(leaving.cookie, accounts.remove({ payload: { confirm: "DELETE" } }), 302)
        }).pipe(Effect.scoped)
    )

    it.effect("answers 503 with a page while the control plane does not answer, and never reaches the origin", () =>
      Effect.gen(function* () {
        const { first, origin, second, way } = yield* Edges
        yield* tunnel("alone.zone.test", { allow_any_login: true })
        const vera = yield* signedIn("alone.zone.test", "vera@example.test")
        way.sever()
        yield* Effect.gen(function* () {
          const before = origin.heard.length
          for (const [at, cookie] of [
            [first, `${sessionCookie}=${"A".repeat(43)}`],
            [second, vera.cookie]
          ] as const) {
            const seen = yield* Effect.promise(() => ask(at, "https://alone.zone.test/", { cookie }))
            assert.deepStrictEqual([seen.status, seen.headers["retry-after"]], [503, "5"])
            assert.include(seen.text, "Signing in does not work now")
            assert.strictEqual(yield* Effect.promise(() => askHttp2(at, "alone.zone.test", { cookie })), 503)
            assert.strictEqual(
              (yield* Effect.promise(() => upgrade(at, "alone.zone.test", [`Cookie: ${cookie}`]))).status,
              503
            )
          }
          assert.strictEqual(origin.heard.length, before)
        }).pipe(Effect.ensuring(Effect.sync(() => void (way.cut = false))))
        const back = Effect.promise(() => ask(second, "https://alone.zone.test/", { cookie: vera.cookie }))
        yield* until(back, ({ status }) => status === 200)
      }).pipe(Effect.scoped)
    )
  }
)
