/**
 * The login gate where the agent ends the visitors' TLS: real control plane, identity provider and edges, and the agent's own
 * program. What an owner switches on holds as it does at the edge, and a name is open only while every agent enforces it.
 */
import { muxAgent, readAll, tlsTo } from "@catenet/testing/edge/Agent"
import { type TestEdge } from "@catenet/testing/edge/TestEdge"
import { until } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { createLocalJWKSet, jwtVerify } from "jose"
import { ask, askHttp2, browser, controlPlane, Edges, upgrade } from "./GateStack.ts"
import { ownTunnel, signedIn, statusAt, tunnel, vera } from "./GateTunnel.ts"

layer(Edges.layer.pipe(Layer.provideMerge(controlPlane)), { excludeTestServices: true, timeout: "120 seconds" })(
  "the login gate of an agent",
  (it) => {
    it.effect(
      "lets a gated name turn end-to-end when every agent of the tunnel enforces the login, and not before",
      () =>
        Effect.gen(function* () {
          const { first } = yield* Edges
          const { complete, host, own, params, seed, token, tunnelControls } = yield* tunnel("turn.zone.test")
          /** As one of before registers, with the key of the tunnel's agent. */
          const older = Effect.gen(function* () {
            const agent = yield* muxAgent(first)
            const registration = yield* Effect.promise(() => agent.register(token, [host], Redacted.value(seed())))
            assert.isTrue(Result.isSuccess(registration))
            const leave = Effect.promise(() => {
              agent.mux.close("normal")
              return agent.mux.closed
            })
            return leave
          })
          const leave = yield* older
          assert.strictEqual(yield* complete, 409)
          yield* leave
          yield* until(complete, (status) => status === 200, "100 millis")
          assert.strictEqual(yield* until(statusAt(own, host), (status) => status !== 0), 302)
          const link = yield* tunnelControls.mintShareLink({ params, headers: {}, payload: { ttl: "1h" } })
          const guest = browser(() => own)
          assert.strictEqual((yield* guest.visit(link.url)).text, "the origin")

          const leaveAgain = yield* older
          const cookie = guest.cookies(host)
          assert.strictEqual(
            yield* statusAt(own, host, { cookie }),
            0,
            "an agent that does not ask keeps the name closed"
          )
          yield* leaveAgain
          yield* until(statusAt(own, host, { cookie }), (status) => status === 200)
        }).pipe(Effect.scoped)
    )

    it.effect("asks visitors as the edge does, names them to the origin and keeps its cookies from it", () =>
      Effect.gen(function* () {
        const { origin } = yield* Edges
        const { host, own, params, switched, tunnels } = yield* ownTunnel("asks.zone.test")
        yield* tunnels.allowVisitor({ params, payload: vera })
        const before = origin.heard.length
        const stranger = yield* Effect.promise(() => ask(own, `https://${host}/photos`))
        assert.strictEqual(stranger.status, 302)
        assert.match(stranger.headers.location ?? "", /\/gate\/start\?host=asks\.zone\.test&return=%2Fphotos&browser=/)
        assert.strictEqual((yield* Effect.promise(() => ask(own, `https://${host}/`, {}, "POST"))).status, 401)
        const forged = { "x-gate-email": "boss@example.test", "x-gate_subject": "boss" }
        assert.strictEqual(yield* Effect.promise(() => askHttp2(own, host, forged)), 302)
        assert.strictEqual((yield* Effect.promise(() => upgrade(own, host, []))).status, 401)
        const raw = yield* Effect.promise(() => tlsTo(own.frontDoor, own.wildcardRoot, host))
        const answer = readAll(raw)
        raw.write("\0 no HTTP at all\r\n\r\n")
        assert.match((yield* Effect.promise(() => answer)).toString(), /^HTTP\/1.1 400 /)
        assert.strictEqual(origin.heard.length, before, "nothing of them reached the origin")

        const { cookie } = yield* signedIn(own, host)
        const sent = { ...forged, cookie: `a=1; ${cookie}` }
        assert.strictEqual((yield* Effect.promise(() => ask(own, `https://${host}/`, sent))).status, 200)
        assert.strictEqual(yield* Effect.promise(() => askHttp2(own, host, sent)), 200)
        for (const { headers } of origin.heard.slice(-2)) {
          assert.deepInclude(headers, { "x-gate-email": "vera@example.test", cookie: "a=1" })
          assert.match(String(headers["x-gate-subject"]), /^(?!boss)[^@]+$/, "the account, whatever its address is")
        }
        yield* switched({ require_login: false })
        yield* until(statusAt(own, host), (status) => status === 200)
      }).pipe(Effect.scoped)
    )

    it.effect("signs who a visitor is, by keys that every edge and agent of the host publishes", () =>
      Effect.gen(function* () {
        const { first, origin, second } = yield* Edges
        const { complete, host, own, params, tunnels } = yield* tunnel("signs.zone.test")
        yield* tunnels.allowVisitor({ params, payload: vera })
        const address = `https://${host}/.well-known/catenet/jwks.json`
        const keysAt = (at: TestEdge) =>
          Effect.map(
            Effect.promise(() => ask(at, address)),
            ({ headers, status, text }) => {
              assert.deepStrictEqual([status, headers["cache-control"]], [200, "public, max-age=60"])
              return JSON.parse(text)
            }
          )
        const { cookie } = yield* signedIn(first, host)
        const sent = { cookie, "x-gate-assertion": "forged", x_gate_assertion: "forged" }
        const assertions = Effect.fnUntraced(function* (at: TestEdge) {
          assert.strictEqual((yield* Effect.promise(() => ask(at, `https://${host}/`, sent))).status, 200)
          assert.strictEqual(yield* Effect.promise(() => askHttp2(at, host, sent)), 200)
          return origin.heard.slice(-2).map(({ headers, raw }) => {
            assert.lengthOf(
              raw.filter((name) => /gate.assertion/i.test(name)),
              1
            )
            return { assertion: String(headers["x-gate-assertion"]), subject: String(headers["x-gate-subject"]) }
          })
        })
        const sets = [yield* keysAt(first), yield* keysAt(second)]
        const ofEdge = yield* assertions(first)
        yield* until(complete, (status) => status === 200, "100 millis")
        yield* until(statusAt(own, host), (status) => status !== 0)
        sets.push(yield* keysAt(own))
        const ofAgent = yield* assertions(own)
        const [once, again] = ofAgent.map(({ assertion }) => assertion)
        assert.strictEqual(once, again, "one signature serves all requests of a session")
        const expected = { audience: host, issuer: `https://${host}` }
        for (const keys of sets)
          for (const { assertion, subject } of [...ofEdge, ...ofAgent]) {
            const { payload } = yield* Effect.promise(() => jwtVerify(assertion, createLocalJWKSet(keys), expected))
            assert.deepInclude(payload, { sub: subject, email: "vera@example.test" })
            assert.strictEqual((payload.exp ?? 0) - (payload.iat ?? 0), 300)
          }
      }).pipe(Effect.scoped)
    )

    it.effect("cuts within a second what a session, a list, a link or the switch no longer lets in", () =>
      Effect.gen(function* () {
        const { host, own, params, switched, tunnelControls, tunnels } = yield* ownTunnel("cuts.zone.test")
        const allow = tunnels.allowVisitor({ params, payload: vera })
        yield* allow
        const ends = Effect.fnUntraced(function* <E, R>(cookie: string, change: Effect.Effect<unknown, E, R>) {
          const running = yield* Effect.promise(() => upgrade(own, host, [`Cookie: ${cookie}`]))
          assert.strictEqual(running.status, 101)
          const at = performance.now()
          yield* change
          assert.isBelow((yield* Effect.promise(() => running.closed)) - at, onThisMachine(1_000))
          assert.strictEqual(yield* statusAt(own, host, { cookie }), 302)
        })
        const leaver = yield* signedIn(own, host)
        yield* ends(leaver.cookie, leaver.get(`https://${host}/.catenet/gate/logout`))
        const removed = yield* signedIn(own, host)
        yield* ends(removed.cookie, tunnels.disallowVisitor({ params: { ...params, ...vera } }))
        const link = yield* tunnelControls.mintShareLink({ params, headers: {}, payload: { ttl: "1h" } })
        const guest = browser(() => own)
        yield* guest.visit(link.url)
        yield* ends(guest.cookies(host), tunnelControls.revokeShareLink({ params: { ...params, link_id: link.id } }))
        yield* switched({ require_login: false })
        yield* until(statusAt(own, host), (status) => status === 200)
        yield* ends("a=1", switched({ require_login: true }))
      }).pipe(Effect.scoped)
    )
  }
)
