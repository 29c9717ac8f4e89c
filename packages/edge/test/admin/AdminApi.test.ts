import { readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { adminToken } from "@catenet/testing/edge/ControlPlane"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const T = token("a")
const tunnelHost = "app.zone.test"

describe("the admin API", () => {
  it.live("answers 401 without the token", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const url = `http://127.0.0.1:${world.bound.admin?.port}/admin/host-auth-dump`
      const presented: ReadonlyArray<Record<string, string>> = [
        {},
        { "x-ct-admin-token": "" },
        { "x-ct-admin-token": "ad".repeat(31) },
        { "x-ct-admin-token": "ae".repeat(32) }
      ]
      for (const headers of presented) {
        const response = yield* Effect.promise(() => fetch(url, { headers }))
        assert.strictEqual(response.status, 401)
      }
      assert.strictEqual((yield* Effect.promise(() => world.admin("GET", "/admin/host-auth-dump"))).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("takes the routing token from the path or from a header", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const byPath = yield* Effect.promise(() => world.admin("POST", `/admin/authorize-host/${T}/A.zone.test.`))
      const byHeader = yield* Effect.promise(() =>
        world.admin("POST", "/admin/authorize-host/b.zone.test?channel_tier=gelb", {
          headers: { "x-ct-routing-token": T.toUpperCase() }
        })
      )
      assert.deepStrictEqual([byPath.status, byHeader.status], [200, 200])
      assert.deepStrictEqual((yield* Effect.promise(() => world.admin("GET", "/admin/host-auth-dump"))).body, [
        { hostname: "a.zone.test", token: T },
        { hostname: "b.zone.test", token: T }
      ])
      const release = (token: string) =>
        Effect.promise(() =>
          world.admin("POST", "/admin/release-host/a.zone.test", { headers: { "x-ct-routing-token": token } })
        )
      for (const token of ["ab".repeat(32), T]) assert.strictEqual((yield* release(token)).status, 200)
      assert.deepStrictEqual((yield* Effect.promise(() => world.admin("GET", "/admin/host-auth-dump"))).body, [
        { hostname: "b.zone.test", token: T }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("takes a host of 253 characters and none of 254", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const most = `${"a".repeat(63)}.`.repeat(3) + "b".repeat(61)
      for (const [host, status] of [
        [most, 200],
        [`${most}b`, 400]
      ] as const) {
        const headers = { "x-ct-routing-token": T }
        const byHeader = yield* Effect.promise(() => world.admin("POST", `/admin/authorize-host/${host}`, { headers }))
        const byPath = yield* Effect.promise(() => world.admin("POST", `/admin/authorize-host/${T}/${host}`))
        assert.deepStrictEqual([byHeader.status, byPath.status], [status, status])
      }
    }).pipe(Effect.scoped)
  )

  it.live("answers the same by header as by path", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_RECEIPTS: "1" })
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      yield* servingAgent(world, T, [tunnelHost])
      const headers = { "x-ct-routing-token": T }
      for (const [path, query] of [
        ["/internal/tunnel/history", "?limit=1"],
        ["/internal/tunnel/receipts", "?since=0&limit=5"],
        ["/admin/tunnel-status", ""]
      ] as const) {
        const byHeader = yield* Effect.promise(() => world.admin("GET", `${path}${query}`, { headers }))
        const byPath = yield* Effect.promise(() => world.admin("GET", `${path}/${T}${query}`))
        assert.strictEqual(byHeader.status, 200, path)
        if (path === "/admin/tunnel-status") assert.deepInclude(byHeader.body as object, { connected: true })
        else assert.deepStrictEqual(byHeader.body, byPath.body, path)
        assert.strictEqual((yield* Effect.promise(() => world.admin("GET", path))).status, 400, path)
      }
      assert.strictEqual((yield* Effect.promise(() => world.admin("POST", "/admin/revoke"))).status, 400)
      const revoked = yield* Effect.promise(() => world.admin("POST", "/admin/revoke", { headers }))
      assert.strictEqual(revoked.status, 200)
      const after = yield* Effect.promise(() => world.admin("GET", "/admin/tunnel-status", { headers }))
      assert.deepInclude(after.body as object, { connected: false })
    }).pipe(Effect.scoped)
  )

  it.live("answers every body that it cannot read with one status", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const send = (path: string, body: string, type: string) =>
        Effect.promise(async () => {
          const headers = { "x-ct-admin-token": adminToken, "x-ct-routing-token": T, "content-type": type }
          const url = `http://127.0.0.1:${world.bound.admin?.port}${path}`
          const response = await fetch(url, { method: "POST", headers, body })
          return { status: response.status, body: await response.text() }
        })
      const policy = "/internal/tunnel/access-policy"
      const keys = "/internal/tunnel/agent-keys"
      for (const [path, body, type] of [
        [policy, "{", "application/json"],
        [policy, "", "application/json"],
        [policy, '{"expires_at":"soon"}', "application/json"],
        [policy, '{"schedule":{"slots":[]}}', "application/json"],
        [policy, "null", "text/plain"],
        [keys, "{}", "application/json"],
        [keys, '["ab"]', "application/json"],
        [keys, "[]", "application/x-www-form-urlencoded"],
        ["/admin/tunnel-status/bulk", "{}", "application/json"],
        ["/internal/tunnel/history/bulk", JSON.stringify({ tokens: Array(257).fill(T) }), "application/json"],
        ["/internal/tunnel/history/bulk", '{"tokens":[],"limit":0}', "application/json"],
        ["/internal/tunnel/history/bulk", '{"tokens":[],"limit":201}', "application/json"],
        ["/internal/channel/presence/bulk", '{"channels":["ab"]}', "application/json"],
        ["/internal/channel/presence/bulk", JSON.stringify({ channels: Array(257).fill(T) }), "application/json"]
      ] as const) {
        const answer = yield* send(path, body, type)
        assert.strictEqual(answer.status, 400, `${path} ${type} ${body}`)
        assert.include(answer.body, '"code":"MalformedRequest"', `${path} ${type} ${body}`)
      }
      assert.strictEqual((yield* send(policy, "null", "application/json; charset=utf-8")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("refuses what is malformed with 400 and changes nothing", () =>
    Effect.gen(function* () {
      const world = yield* start()
      for (const path of [
        `/admin/authorize-host/${T.slice(1)}/${tunnelHost}`,
        `/admin/authorize-host/${T}/-bad-`,
        `/admin/authorize-host/${tunnelHost}`,
        `/admin/revoke/xyz`
      ]) {
        assert.strictEqual((yield* Effect.promise(() => world.admin("POST", path))).status, 400, path)
      }
      assert.deepStrictEqual((yield* Effect.promise(() => world.admin("GET", "/admin/host-auth-dump"))).body, [])
    }).pipe(Effect.scoped)
  )

  it.live("reports tunnels alone and in bulk, leaving out what is no token", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      yield* servingAgent(world, T, [tunnelHost])
      const offline = {
        connected: false,
        registrations: 0,
        fallback_parked: 0,
        reach: { state: "agent_silent", since: null, origin: null, fault: null, http_status: null },
        bytes_received: 0,
        bytes_sent: 0,
        direct: false,
        connected_since: null,
        last_seen: null
      }
      const { body } = yield* Effect.promise(() =>
        world.admin("POST", "/admin/tunnel-status/bulk", { body: { tokens: [T, "nonsense", 7, token("b")] } })
      )
      assert.deepInclude((body as Array<object>)[0], { token: T, connected: true, registrations: 1 })
      assert.deepStrictEqual((body as Array<object>)[1], { ...offline, token: token("b") })
      assert.strictEqual((body as Array<object>).length, 2)
      const one = yield* Effect.promise(() => world.admin("GET", `/admin/tunnel-status/${token("b")}`))
      assert.deepStrictEqual(one.body, offline)
      const active = yield* Effect.promise(() => world.admin("GET", "/admin/active-tunnels"))
      assert.deepStrictEqual(active.body, { active_tunnels: 1 })
      const quic = yield* Effect.promise(() => world.admin("GET", "/internal/quic/listeners"))
      assert.deepStrictEqual(quic.body, { listeners: [] })
    }).pipe(Effect.scoped)
  )

  it.live("reports the version of each agent that serves a tunnel, where it can be shown", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      for (const version of ["1.2.4", "1.2.3", "1.2.3", "1 <b>", "1".repeat(65)])
        yield* servingAgent(world, T, [tunnelHost], undefined, { version })
      const { body } = yield* Effect.promise(() => world.admin("GET", `/admin/tunnel-status/${T}`))
      // A registration carries 64 bytes of a version at most.
      assert.deepInclude(body, { registrations: 5, agent_versions: ["1.2.3", "1.2.4", "1".repeat(64)] })
    }).pipe(Effect.scoped)
  )

  it.live("tells the sums and days of thirty days where they are asked for", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => stream.once("data", () => stream.end("pong!")))
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      visitor.write("\x00ping")
      yield* Effect.promise(() => readAll(visitor))
      const headers = { "x-ct-routing-token": T }
      const history = (query: string) => world.admin("GET", `/internal/tunnel/history${query}`, { headers })
      const plain = yield* Effect.promise(() => history(""))
      assert.deepStrictEqual(Object.keys(plain.body as object), ["open", "uptime", "sessions"])
      const asked = yield* Effect.promise(() => history("?figures=1"))
      const { figures } = asked.body as { figures: { sessions: number; days: ReadonlyArray<object> } }
      assert.deepStrictEqual([figures.sessions, figures.days.length], [1, 30])
      assert.strictEqual((yield* Effect.promise(() => history("?figures=2"))).status, 400)
      const sums = yield* Effect.promise(() =>
        world.admin("POST", "/internal/tunnel/sums/bulk", { body: { tokens: [T, "nonsense", token("b")] } })
      )
      assert.deepStrictEqual(sums.body, [
        { token: T, visitors: 0, bytes_in: 0, bytes_out: 0 },
        { token: token("b"), visitors: 0, bytes_in: 0, bytes_out: 0 }
      ])
      const many = (more: object) =>
        Effect.promise(() =>
          world.admin("POST", "/internal/tunnel/history/bulk", {
            body: { tokens: [T, "nonsense", token("b")], ...more }
          })
        )
      const all = (yield* many({ limit: 200, figures: true })).body as ReadonlyArray<object>
      assert.strictEqual(all.length, 2)
      assert.deepStrictEqual({ ...all[0], figures: 0 }, { ...(asked.body as object), token: T, figures: 0 })
      assert.deepInclude(all[1], { token: token("b"), open: false, sessions: [] })
      assert.deepStrictEqual(Object.keys(((yield* many({})).body as ReadonlyArray<object>)[0] ?? {}).toSorted(), [
        "open",
        "sessions",
        "token",
        "uptime"
      ])
      const full = { tokens: Array(256).fill(token("b")) }
      const most = yield* Effect.promise(() => world.admin("POST", "/internal/tunnel/history/bulk", { body: full }))
      assert.deepStrictEqual([most.status, (most.body as ReadonlyArray<object>).length], [200, 256])
    }).pipe(Effect.scoped)
  )

  it.live("cuts running relays when the access window closes, unless CT_EDGE_CUT_AT_WINDOW_CLOSE is off", () =>
    Effect.gen(function* () {
      for (const [variables, cut] of [
        [{}, true],
        [{ CT_EDGE_CUT_AT_WINDOW_CLOSE: "off" }, false]
      ] as const) {
        const world = yield* start(variables)
        yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
        const agent = yield* servingAgent(world, T, [tunnelHost])
        const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
        const echoed = readUntil(visitor, "ping")
        visitor.write("\x00ping")
        yield* Effect.promise(() => echoed)
        const gone = new Promise((resolve) => visitor.once("end", resolve).once("close", resolve))
        const headers = { "x-ct-routing-token": T }
        yield* Effect.promise(() =>
          world.admin("POST", "/internal/tunnel/access-policy", { headers, body: { expires_at: 1 } })
        )
        if (cut) yield* Effect.promise(() => gone)
        else {
          const again = readUntil(visitor, "pong")
          visitor.write("pong")
          yield* Effect.promise(() => again)
        }
        const isReset = () => agent.streams[0]?.resetBy?.code === (cut ? "window-closed" : undefined)
        yield* Effect.promise(() => eventually(isReset, "the agent gets the reason"))
        assert.isTrue(
          JSON.stringify(yield* Effect.promise(() => world.admin("GET", `/admin/tunnel-status/${T}`))).includes(
            '"connected":true'
          )
        )
        visitor.destroy()
      }
    }).pipe(Effect.scoped)
  )

  it.live("sets and clears access windows, which show on gelb as a page with 503", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.once("data", () => stream.end("HTTP/1.1 204 No Content\r\n\r\n"))
      })
      const visit = Effect.promise(async () => {
        const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
        const answer = readAll(visitor)
        visitor.write(`GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`)
        const text = (await answer).toString()
        visitor.end()
        return text
      })
      const set = (body: unknown) =>
        Effect.promise(() =>
          world.admin("POST", "/internal/tunnel/access-policy", { headers: { "x-ct-routing-token": T }, body })
        )
      assert.strictEqual((yield* set({ expires_at: 1 })).status, 200)
      assert.match(yield* visit, /^HTTP\/1.1 503 Service Unavailable\r\n[^]*Retry-After: 3600\r\n[^]*closed now/)
      assert.strictEqual((yield* set(null)).status, 200)
      assert.match(yield* visit, /^HTTP\/1.1 204 /)
      assert.strictEqual((yield* set({ schedule: { tz_offset_minutes: 900, slots: [] } })).status, 400)
      assert.match(yield* visit, /^HTTP\/1.1 204 /)
    }).pipe(Effect.scoped)
  )
})
