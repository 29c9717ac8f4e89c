import { RoutingToken } from "@catenet/domain/values/Tokens"
import { bearerOf } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FactsEdge } from "./FactsEdge.ts"
import { account, server, tunnel } from "./FactsServer.ts"

const now = Math.floor(Date.now() / 1000)
const day = 86_400
const uptime = { h24: 100, d7: 98.44, d30: 96.5 }
const sessions = [
  { connected_at: now - 3600, disconnected_at: null, bytes_in: 10, bytes_out: 20 },
  { connected_at: now - 3 * day, disconnected_at: now - 2 * 3600, bytes_in: 1, bytes_out: 2 },
  { connected_at: now - 40 * day, disconnected_at: now - 31 * day, bytes_in: 500, bytes_out: 500 }
]

const download = (sub: string, path: string) =>
  Effect.flatMap(bearerOf(sub), (bearer) =>
    Effect.flatMap(TestServer.raw(path, { headers: { authorization: `Bearer ${bearer}` } }), (response) =>
      Effect.map(
        Effect.promise(() => response.text()),
        (text) => ({ text, status: response.status, headers: response.headers })
      )
    )
  )

const badge = (id: string) =>
  Effect.flatMap(TestServer.raw(`/badge/${id}.svg`), (response) =>
    Effect.map(
      Effect.promise(() => response.text()),
      (text) => ({ text, status: response.status, headers: response.headers })
    )
  )

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("what is on record of a tunnel", (it) => {
  it.effect("is what the edge says, summed over 30 days", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("ada", "=cam", "cam.zone.example")
      yield* tunnel("ada", 'the "new" one')
      yield* edge.tunnel(token, { connected: true, sessions, uptime })
      const { tunnelRecords } = yield* account("ada")

      const report = yield* tunnelRecords.uptime({ params: { id } })
      assert.deepInclude(report, {
        edge_silent: false,
        open: true,
        sessions_30d: 2,
        bytes_in_30d: 11,
        bytes_out_30d: 22
      })
      assert.deepStrictEqual({ ...report.uptime }, uptime)
      assert.strictEqual(report.sessions.length, 3)
      assert.approximately(report.longest_outage_30d_secs ?? 0, 27 * day, 60)

      const usage = yield* tunnelRecords.usage({ query: {} })
      assert.strictEqual(usage.length, 2)
      const [cam, fresh] = usage.toSorted((x, y) => (x.tunnel < y.tunnel ? -1 : 1))
      assert.deepInclude(cam, { uptime_30d_pct: 96.5, sessions_30d: 2, bytes_in_30d: 11, bytes_out_30d: 22 })
      assert.deepInclude(fresh, { uptime_30d_pct: null, sessions_30d: 0, bytes_in_30d: 0, bytes_out_30d: 0 })

      const csv = yield* download("ada", "/me/usage.csv")
      assert.strictEqual(csv.headers.get("content-type"), "text/csv; charset=utf-8")
      assert.strictEqual(csv.headers.get("content-disposition"), 'attachment; filename="tunnel-usage.csv"')
      const [header, ...lines] = csv.text.split("\r\n")
      const [first, second] = lines.slice(0, 2).toSorted()
      assert.strictEqual(header, "tunnel,hostname,uptime_30d_pct,sessions_30d,bytes_in_30d,bytes_out_30d")
      assert.strictEqual(first, `"'=cam","cam.zone.example",96.5,2,11,22`)
      assert.match(second ?? "", /^"the ""new"" one","the-new-one-[0-9a-f]{8}\.zone\.example",,0,0,0$/)
      assert.deepStrictEqual(lines.slice(2), [""])

      const row = (yield* tunnelRecords.fleet({ query: {} })).find((each) => each.id === id)
      assert.deepInclude(row, {
        online: true,
        transport: "quic",
        carrier: "quic",
        uptime_7d_pct: 98.44,
        bridge_mode: "off",
        gaps: []
      })
    })
  )

  it.effect("shows the versions that serving agents register with, without a bridge", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("eve", "cam", "eve.zone.example")
      const { tunnelRecords } = yield* account("eve")
      const version = Effect.map(tunnelRecords.fleet({ query: {} }), (rows) => {
        return rows.find((each) => each.id === id)?.agent_version
      })
      for (const [versions, shown] of [
        [undefined, null],
        [["1.2.3"], "1.2.3"],
        [["1.2.3", "1.2.4"], "1.2.3, 1.2.4"]
      ] as const) {
        yield* edge.tunnel(token, { connected: true, sessions, uptime, ...(versions && { versions }) })
        assert.strictEqual(yield* version, shown)
      }
      // An agent on another carrier says it to the control plane.
      const { enrollment } = yield* TestServer.client
      const routing_token = Schema.decodeSync(RoutingToken)(token)
      yield* enrollment.reportVersion({ payload: { token: routing_token, version: "2.0.0" } })
      assert.strictEqual(yield* version, "1.2.3, 1.2.4", "who is connected now says better")
      yield* edge.tunnel(token, { connected: true, sessions, uptime })
      assert.strictEqual(yield* version, "2.0.0")
    })
  )

  it.effect("is unknown while the edge is silent, and never zero", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("bob", "cam", "bob.zone.example")
      yield* edge.tunnel(token, { connected: true, sessions, uptime })
      const { tunnelControls, tunnelRecords } = yield* account("bob")
      const { public_id } = yield* tunnelControls.enableBadge({ params: { id } })
      yield* edge.away(true)
      const report = yield* tunnelRecords.uptime({ params: { id } })
      assert.deepInclude(report, { edge_silent: true, open: null, uptime: null, sessions_30d: null })
      const [row] = yield* tunnelRecords.usage({ query: {} })
      assert.deepInclude(row, { uptime_30d_pct: null, sessions_30d: null, bytes_in_30d: null, bytes_out_30d: null })
      assert.include((yield* download("bob", "/me/usage.csv")).text, '"cam","bob.zone.example",,,,')
      const [fleet] = yield* tunnelRecords.fleet({ query: {} })
      assert.deepInclude(fleet, {
        online: null,
        transport: null,
        carrier: null,
        uptime_7d_pct: null,
        bridge_last_seen_secs_ago: null
      })
      const grey = yield* badge(public_id ?? "")
      assert.strictEqual(grey.status, 200)
      assert.include(grey.text, 'aria-label="uptime 7d: n/a"')
      assert.include(grey.text, "#9f9f9f")
      yield* edge.away(false)
      yield* edge.tunnel(token, { sessions: "none" })
      const disabled = yield* tunnelRecords.uptime({ params: { id } })
      assert.deepInclude(disabled, { edge_silent: false, open: null, uptime: null, sessions_30d: null })
    })
  )

  it.effect("shows in a badge that says nothing else, and is gone at once when switched off", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("cleo", "secret name", "cleo.zone.example")
      const { tunnelControls } = yield* account("cleo")
      const params = { id }
      const enabled = yield* Effect.all(
        Array.from({ length: 8 }, () => tunnelControls.enableBadge({ params })),
        { concurrency: "unbounded" }
      )
      const publicId = enabled[0]?.public_id ?? ""
      assert.isTrue(enabled.every(({ public_id }) => public_id === publicId))
      for (const [d7, colour, text] of [
        [99, "#4c1", "99 %"],
        [95, "#dfb317", "95 %"],
        [94.9, "#e05d44", "94.9 %"]
      ] as const) {
        yield* edge.tunnel(token, { sessions, uptime: { ...uptime, d7 } })
        const picture = yield* badge(publicId)
        assert.strictEqual(picture.headers.get("content-type"), "image/svg+xml")
        assert.strictEqual(picture.headers.get("cache-control"), "public, max-age=300")
        assert.include(picture.text, `fill="${colour}"`)
        assert.include(picture.text, `<title>uptime 7d: ${text}</title>`)
        for (const hidden of [id, token, "cleo", "secret"]) assert.notInclude(picture.text, hidden)
      }
      yield* edge.tunnel(token, { sessions: [] })
      assert.include((yield* badge(publicId)).text, "uptime 7d: n/a", "never served is no history")
      yield* tunnelControls.disableBadge({ params })
      assert.strictEqual((yield* badge(publicId)).status, 404)
      const again = yield* tunnelControls.enableBadge({ params })
      assert.notStrictEqual(again.public_id as string | null, publicId)
      const { tunnels } = yield* account("cleo")
      yield* tunnels.remove({ params })
      assert.strictEqual((yield* badge(again.public_id ?? "")).status, 404)
    })
  )
})
