import { token } from "@catenet/testing/edge/TestEdge"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, FileSystem, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import { SessionHistory } from "../../src/history/SessionHistory.ts"
import { Routes } from "../../src/routes/Routes.ts"
import { tunnelName } from "../../src/routes/TunnelName.ts"
import { WorkerBroadcast } from "../../src/routes/WorkerBroadcast.ts"
import type { AgentPool } from "../../src/sessions/AgentPool.ts"
import { AgentSessions } from "../../src/sessions/AgentSessions.ts"
import { OriginEchoes } from "../../src/sessions/OriginEchoes.ts"
import type { SessionObserver } from "../../src/sessions/SessionObserver.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { HistoryDatabase } from "../../src/sqlite/HistoryDatabase.ts"

const T = token("c")
const withoutEchoes = Layer.succeed(OriginEchoes, { observe: () => undefined } as never)
const retentionSeconds = 86_400

/** The session history alone; `observer` gets the calls that an edge would make. */
const open = Effect.fn(
  function* (others: Layer.Layer<WorkerBroadcast>) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const observers: Array<SessionObserver> = []
    const agents = { observe: (each: SessionObserver) => void observers.push(each) } as AgentSessions["Service"]
    const settings = Settings.layer.pipe(
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            CT_EDGE_CERT_OUT: `${folder}/root.der`,
            CT_EDGE_RECEIPTS: "1",
            CT_EDGE_TUNNEL_HISTORY_RETENTION_SECS: String(retentionSeconds)
          })
        )
      )
    )
    const layer = SessionHistory.layerNoDeps.pipe(
      Layer.provide([HistoryDatabase.layer, others, Layer.succeed(AgentSessions, agents), withoutEchoes, Routes.layer]),
      Layer.provide(settings)
    )
    const sessionHistory = yield* Effect.map(Layer.build(Layer.fresh(layer)), (context) =>
      SessionHistory.pipe(Effect.provide(context))
    )
    return { sessionHistory: yield* sessionHistory, observer: observers[0] ?? assert.fail() }
  },
  Effect.provideService(References.MinimumLogLevel, "None")
)

describe("the history of a running session", () => {
  it.effect(
    "note its bytes every minute, attest them every hour in which some moved, and forget it after the retention",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1_000_000_000)
        const { sessionHistory, observer } = yield* open(WorkerBroadcast.layer)
        const traffic = { aToB: 7, bToA: 1 }
        const tunnel = { token: T, traffic, visits: 0 } as AgentPool
        const name = tunnelName(T)
        const kinds = () => sessionHistory.receipts?.page(name, 0, 100).map((line) => JSON.parse(line).kind)
        const history = (now: number) => sessionHistory.sessions?.history(name, 20, now).sessions ?? []
        observer.connected(tunnel, "mux")
        traffic.aToB += 5
        traffic.bToA += 50
        assert.deepInclude(history(1_000_000)[0], { bytes_in: 0, bytes_out: 0 })
        yield* TestClock.adjust("60 seconds")
        assert.deepInclude(history(1_000_060)[0], { bytes_in: 5, bytes_out: 50, disconnected_at: null })
        assert.deepStrictEqual(kinds(), ["session_open"])
        yield* TestClock.adjust("59 minutes")
        assert.deepStrictEqual(kinds(), ["session_open", "bytes"])
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(kinds(), ["session_open", "bytes"])
        traffic.aToB += 1
        yield* TestClock.adjust("1 hour")
        const last = JSON.parse(sessionHistory.receipts?.page(name, 2, 1)[0] ?? "")
        assert.deepInclude(last, { kind: "bytes", payload: { bytes_in: 6, bytes_out: 50, connected_at: 1_000_000 } })
        observer.disconnected(tunnel, "registration-closed")
        assert.deepStrictEqual(kinds(), ["session_open", "bytes", "bytes", "session_close"])
        yield* TestClock.adjust("23 hours")
        assert.strictEqual(history(1_000_000).length, 1)
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(history(1_000_000).length, 0)
        assert.strictEqual(kinds()?.length, 4)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("the history of a tunnel that reconnects before the other processes have reported", () => {
  it.effect("ends each session once, with its own counts", () =>
    Effect.gen(function* () {
      const reports: Array<Deferred.Deferred<void>> = []
      const others = Layer.succeed(WorkerBroadcast, {
        isEmpty: () => false,
        subscribe: () => () => undefined,
        send: () => {
          const report = Deferred.makeUnsafe<void>()
          reports.push(report)
          return Deferred.await(report)
        }
      })
      const reported = (index: number) =>
        Effect.andThen(Deferred.succeed(reports[index] ?? assert.fail(), undefined), TestClock.adjust(0))
      yield* TestClock.setTime(1_000_000_000)
      const { sessionHistory, observer } = yield* open(others)
      const traffic = { aToB: 0, bToA: 0 }
      const tunnel = { token: T, traffic, visits: 0 } as AgentPool
      const ended = () =>
        (sessionHistory.sessions?.history(tunnelName(T), 20, 1_000_000).sessions ?? []).flatMap((session) =>
          session.disconnected_at === null ? [] : [session.bytes_in]
        )
      observer.connected(tunnel, "mux")
      traffic.aToB = 3
      observer.disconnected(tunnel, "registration-closed")
      observer.connected(tunnel, "mux")
      assert.deepStrictEqual(ended(), [3])
      observer.disconnected(tunnel, "registration-closed")
      yield* reported(0)
      assert.deepStrictEqual(ended(), [3])
      traffic.aToB = 8
      yield* reported(1)
      assert.deepStrictEqual(ended(), [5, 3])
      const kinds = sessionHistory.receipts?.page(tunnelName(T), 0, 100).map((line) => JSON.parse(line).kind)
      assert.deepStrictEqual(kinds, ["session_open", "session_close", "session_open", "session_close"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
