import { Reachability } from "@catenet/domain/tunnels/Reachability"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { token } from "@catenet/testing/edge/TestEdge"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, FileSystem, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import { DatabaseSync } from "node:sqlite"
import { type Counted, DayCount } from "../../src/history/DailyTrafficStore.ts"
import { SessionHistory } from "../../src/history/SessionHistory.ts"
import { Routes } from "../../src/routes/Routes.ts"
import { tunnelName } from "../../src/routes/TunnelName.ts"
import { WorkerBroadcast } from "../../src/routes/WorkerBroadcast.ts"
import type { AgentPool } from "../../src/sessions/AgentPool.ts"
import { AgentSessions } from "../../src/sessions/AgentSessions.ts"
import { OriginEchoes, type ReachObserver } from "../../src/sessions/OriginEchoes.ts"
import type { SessionObserver } from "../../src/sessions/SessionObserver.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { HistoryDatabase } from "../../src/sqlite/HistoryDatabase.ts"

const T = token("c")
const name = tunnelName(T)
const day = 86_400
/** The first second of a day. */
const midnight = 20_000 * day

/** The session history alone, over a database in this folder; what an edge would call. */
const open = Effect.fn(
  function* (folder: string) {
    const observers: Array<SessionObserver> = []
    const reaches: Array<ReachObserver> = []
    const agents = { observe: (each: SessionObserver) => void observers.push(each) } as AgentSessions["Service"]
    const echoes = { observe: (each: ReachObserver) => void reaches.push(each) } as OriginEchoes["Service"]
    const settings = Settings.layer.pipe(
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ CT_EDGE_CERT_OUT: `${folder}/root.der` })))
    )
    const layer = SessionHistory.layerNoDeps.pipe(
      Layer.provide([
        HistoryDatabase.layer,
        WorkerBroadcast.layer,
        Layer.succeed(AgentSessions, agents),
        Layer.succeed(OriginEchoes, echoes),
        Routes.layer
      ]),
      Layer.provide(settings)
    )
    const context = yield* Layer.build(Layer.fresh(layer))
    const { sessions } = yield* SessionHistory.pipe(Effect.provide(context))
    const tunnel = { token: T, traffic: { aToB: 0, bToA: 0 }, visits: 0 } as AgentPool
    const seconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1_000))
    return {
      tunnel,
      connect: Effect.sync(() => observers[0]?.connected(tunnel, "mux")),
      disconnect: Effect.sync(() => observers[0]?.disconnected(tunnel, "registration-closed")),
      reach: (state: Reachability["state"]) =>
        Effect.map(seconds, (at) => {
          const found = new Reachability({ state, since: null, origin: null, fault: null, http_status: null })
          reaches[0]?.(tunnel, found, UnixSeconds.make(at))
        }),
      visit: (bytes: number) => {
        tunnel.visits += 1
        tunnel.traffic.aToB += bytes
        tunnel.traffic.bToA += 2 * bytes
      },
      history: Effect.map(seconds, (now) => sessions?.history(name, 200, now, true) ?? assert.fail()),
      sums: Effect.map(seconds, (now) => sessions?.sums(name, now) ?? assert.fail())
    }
  },
  Effect.provideService(References.MinimumLogLevel, "None")
)

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const at = (seconds: number) => TestClock.setTime(seconds * 1_000)

describe("the figures of a tunnel by day", () => {
  it.effect("put visitors and bytes under the day on which they came, one session over midnight", () =>
    Effect.gen(function* () {
      yield* at(midnight - 300)
      const { connect, disconnect, history, tunnel, visit } = yield* open(yield* temporary)
      yield* connect
      visit(10)
      yield* TestClock.adjust("90 seconds")
      visit(5)
      visit(5)
      yield* TestClock.adjust("5 minutes")
      visit(100)
      yield* disconnect
      yield* connect
      visit(1)
      yield* TestClock.adjust("60 seconds")
      const { figures } = yield* history
      assert.strictEqual(tunnel.visits, 5)
      assert.deepInclude(figures, { sessions: 2, visitors: 5, bytes_in: 121, bytes_out: 242 })
      const [yesterday, today] = figures?.days.slice(-2) ?? []
      assert.deepInclude(yesterday, {
        start: midnight - day,
        uptime_pct: 100,
        visitors: 3,
        bytes_in: 20,
        bytes_out: 40
      })
      assert.deepInclude(today, { start: midnight, uptime_pct: 100, visitors: 2, bytes_in: 101, bytes_out: 202 })
      const before = figures?.days.slice(0, -2) ?? []
      assert.strictEqual(before.length, 28)
      for (const each of before)
        assert.deepInclude(each, { uptime_pct: null, visitors: null, bytes_in: null, bytes_out: null })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("sum all sessions of thirty days, not the newest two hundred", () =>
    Effect.gen(function* () {
      yield* at(midnight)
      const { connect, disconnect, history, sums, visit } = yield* open(yield* temporary)
      for (let flap = 0; flap < 250; flap++) {
        yield* connect
        visit(10)
        yield* TestClock.adjust("1 second")
        yield* disconnect
        yield* TestClock.adjust(flap === 0 ? "100 seconds" : "1 second")
      }
      const { figures, sessions } = yield* history
      assert.strictEqual(sessions.length, 200)
      const all = { visitors: 250, bytes_in: 2500, bytes_out: 5000 }
      assert.deepInclude(figures, { ...all, sessions: 250, longest_outage_secs: 100 })
      assert.deepInclude(yield* sums, all)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("count the time in which the origin was silent as down, also over the end of the session", () =>
    Effect.gen(function* () {
      yield* at(midnight)
      const { connect, disconnect, history, reach } = yield* open(yield* temporary)
      yield* connect
      yield* reach("up")
      yield* TestClock.adjust("100 seconds")
      yield* reach("origin_silent")
      yield* reach("agent_silent")
      yield* TestClock.adjust("200 seconds")
      yield* reach("up")
      yield* TestClock.adjust("100 seconds")
      const once = yield* history
      assert.strictEqual(once.uptime.d30, 50)
      assert.strictEqual(once.figures?.longest_outage_secs, 200)
      assert.strictEqual(once.figures?.days.at(-1)?.uptime_pct, 50)
      yield* reach("origin_silent")
      yield* TestClock.adjust("400 seconds")
      yield* disconnect
      assert.strictEqual((yield* history).uptime.d30, 25)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("are unknown for the time before an edge counted by day, while sessions from then are summed", () =>
    Effect.gen(function* () {
      yield* at(midnight + 2 * day)
      const folder = yield* temporary
      yield* Effect.scoped(open(folder))
      const db = new DatabaseSync(`${folder}/tunnel-history.sqlite`)
      db.exec(`insert into sessions (tunnel, transport, connected_at, disconnected_at, reason, bytes_in, bytes_out, last_flush)
        values ('${name}', 'mux', ${midnight}, ${midnight + 100}, 'x', 7, 8, ${midnight + 100})`)
      db.close()
      const { connect, history, visit } = yield* open(folder)
      yield* connect
      visit(1)
      yield* TestClock.adjust("60 seconds")
      const { figures } = yield* history
      assert.deepInclude(figures, { sessions: 2, visitors: null, bytes_in: 8, bytes_out: 10 })
      const [first, second, third] = figures?.days.slice(-3) ?? []
      assert.deepInclude(first, { visitors: null, bytes_in: null })
      assert.deepInclude(second, { uptime_pct: 0, visitors: null, bytes_in: null })
      assert.deepInclude(third, { visitors: 1, bytes_in: 1, bytes_out: 2 })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it("are the same when a write that was rolled back is made again", () => {
    const stored = new Map<number, Counted>()
    const days = {
      of: (_tunnel: string, day: number) => stored.get(day) ?? { visitors: 0, bytesIn: 0, bytesOut: 0 },
      put: (_tunnel: string, day: number, counted: Counted) => void stored.set(day, counted)
    }
    const count = new DayCount()
    const three = { visitors: 3, bytesIn: 30, bytesOut: 60 }
    count.write(days, name, midnight + 5, three)
    stored.clear()
    count.write(days, name, midnight + 6, { ...three, visitors: 4 })
    assert.deepStrictEqual(stored.get(midnight), { ...three, visitors: 4 })
  })
})
