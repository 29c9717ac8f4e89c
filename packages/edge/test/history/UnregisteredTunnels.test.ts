import { token } from "@catenet/testing/edge/TestEdge"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { SessionHistory } from "../../src/history/SessionHistory.ts"
import { unregisteredTunnels } from "../../src/history/UnregisteredTunnels.ts"
import { Routes } from "../../src/routes/Routes.ts"
import { tunnelName } from "../../src/routes/TunnelName.ts"
import { WorkerBroadcast } from "../../src/routes/WorkerBroadcast.ts"
import type { AgentPool } from "../../src/sessions/AgentPool.ts"
import { AgentSessions } from "../../src/sessions/AgentSessions.ts"
import { OriginEchoes } from "../../src/sessions/OriginEchoes.ts"
import type { SessionObserver } from "../../src/sessions/SessionObserver.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { HistoryDatabase } from "../../src/sqlite/HistoryDatabase.ts"

const withoutEchoes = Layer.succeed(OriginEchoes, { observe: () => undefined } as never)
const namedTunnel = token("a")
const meshRelay = token("b")
const joined = { CT_EDGE_CP_URL: "http://127.0.0.1:9", CT_EDGE_ADMIN_TOKEN: namedTunnel }
const random = (index: number) => createHash("sha256").update(String(index)).digest("hex")

/** The session history of an edge with a control plane, which is asked nothing here. */
const open = Effect.fn(
  function* (variables: Record<string, string>) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const observers: Array<SessionObserver> = []
    const agents = { observe: (each: SessionObserver) => void observers.push(each) } as AgentSessions["Service"]
    const settings = Settings.layer.pipe(
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({ CT_EDGE_CERT_OUT: `${folder}/root.der`, CT_EDGE_RECEIPTS: "1", ...variables })
        )
      )
    )
    const layer = SessionHistory.layerNoDeps.pipe(
      Layer.provide([
        HistoryDatabase.layer,
        WorkerBroadcast.layer,
        Layer.succeed(AgentSessions, agents),
        withoutEchoes
      ]),
      Layer.provideMerge(Routes.layer),
      Layer.provide(settings)
    )
    const context = yield* Layer.build(Layer.fresh(layer))
    const db = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(`${folder}/tunnel-history.sqlite`, { readOnly: true })),
      (db) => Effect.sync(() => db.close())
    )
    const count = (table: string, of?: string) =>
      of === undefined
        ? db.prepare(`select count(*) as rows from ${table}`).get()?.["rows"]
        : db.prepare(`select count(*) as rows from ${table} where tunnel = ?`).get(tunnelName(of))?.["rows"]
    const observer = observers[0] ?? assert.fail()
    const begin = (token: string) => {
      const tunnel = { token, traffic: { aToB: 0, bToA: 0 }, visits: 0 } as AgentPool
      observer.connected(tunnel, "tcp-fallback")
      return { traffic: tunnel.traffic, end: () => observer.disconnected(tunnel, "registration-closed") }
    }
    const routes = yield* Routes.pipe(Effect.provide(context))
    routes.authorize("app.zone.test", { token: namedTunnel, tier: "gelb", admissionUntil: null })
    return { begin, count, routes }
  },
  Effect.provideService(References.MinimumLogLevel, "None")
)

describe("tokens that the control plane has not named", () => {
  it.effect("leave no record of ten thousand short sessions", () =>
    Effect.gen(function* () {
      const { begin, count } = yield* open(joined)
      begin(namedTunnel).end()
      for (let index = 0; index < 10_000; index++) begin(random(index)).end()
      assert.deepStrictEqual([count("sessions"), count("receipts")], [1, 2])
      assert.deepStrictEqual([count("sessions", namedTunnel), count("receipts", namedTunnel)], [1, 2])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect(
    "that carry something push out each other, and neither a named tunnel nor one that was served for long",
    () =>
      Effect.gen(function* () {
        const { begin, count } = yield* open(joined)
        begin(namedTunnel).end()
        const mesh = begin(meshRelay)
        assert.strictEqual(count("sessions", meshRelay), 0, "at first")
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual([count("sessions", meshRelay), count("receipts", meshRelay)], [1, 1], "after a while")
        mesh.end()
        for (let index = 0; index < unregisteredTunnels + 200; index++) {
          const stranger = begin(random(index))
          stranger.traffic.aToB += 1
          stranger.end()
        }
        assert.deepStrictEqual(
          [count("sessions"), count("receipts")],
          [unregisteredTunnels + 1, 2 * (unregisteredTunnels + 1)]
        )
        for (const kept of [namedTunnel, meshRelay])
          assert.deepStrictEqual([count("sessions", kept), count("receipts", kept)], [1, 2])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("keep the newest records of each, and all records once it is named", () =>
    Effect.gen(function* () {
      const { begin, count, routes } = yield* open(joined)
      const visits = (times: number) => {
        for (let time = 0; time < times; time++) {
          const session = begin(meshRelay)
          session.traffic.bToA += 1
          session.end()
        }
      }
      visits(300)
      assert.deepStrictEqual([count("sessions", meshRelay), count("receipts", meshRelay)], [100, 500])
      routes.setAgentKeys(meshRelay, [], "optional")
      visits(50)
      assert.deepStrictEqual([count("sessions", meshRelay), count("receipts", meshRelay)], [150, 600])
      assert.strictEqual(count("unnamed_tunnels"), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("leave a record of each session at an edge without a control plane", () =>
    Effect.gen(function* () {
      const { begin, count } = yield* open({})
      begin(meshRelay).end()
      assert.deepStrictEqual([count("sessions", meshRelay), count("receipts", meshRelay)], [1, 2])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
