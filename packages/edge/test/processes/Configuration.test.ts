import { start, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { mkdirSync } from "node:fs"
import { Server } from "node:net"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import * as ProcessCount from "../../src/settings/ProcessCount.ts"
import { Settings } from "../../src/settings/Settings.ts"

const read = (variables: Record<string, string>) =>
  Effect.provide(Settings, Settings.layer).pipe(
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown({ CT_EDGE_CERT_OUT: "/tmp/edge-cert.der", ...variables })
    )
  )

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

describe("CT_EDGE_PROCESSES", () => {
  it.live("is a whole number from 1 to 64, or one for each core, at most eight", () =>
    Effect.gen(function* () {
      for (const value of ["1", "2", "64"])
        assert.strictEqual((yield* read({ CT_EDGE_PROCESSES: value })).processes, Number(value))
      const automatic = Math.min(8, availableParallelism())
      assert.strictEqual((yield* read({})).processes, 1)
      const { given, processes } = yield* read({ CT_EDGE_PROCESSES: "auto" })
      assert.strictEqual(processes, automatic)
      // The other processes are given the number, so that all are sure to mean the same.
      if (given !== undefined) assert.strictEqual(Redacted.value(given)["CT_EDGE_PROCESSES"], String(automatic))
      for (const [cores, processes] of [
        [1, 1],
        [2, 2],
        [8, 8],
        [9, 8],
        [128, 8]
      ] as const)
        assert.strictEqual(yield* ProcessCount.automatic(cores), processes)
      for (const value of ["0", "65", "-1", "1.5", "two", "0x2", "9".repeat(16)]) {
        const { message } = yield* Effect.flip(read({ CT_EDGE_PROCESSES: value }))
        assert.strictEqual(
          message,
          `CT_EDGE_PROCESSES is "${value}", which is not auto or a whole number from 1 to 64; set it to something like auto.`
        )
      }
    })
  )

  it.live("is 1 by itself where no socket can be made in the folder for temporary files", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const long = join(folder, "a".repeat(80))
      mkdirSync(long)
      for (const unfit of [long, join(folder, "missing")]) {
        vi.stubEnv("TMPDIR", unfit)
        assert.strictEqual(yield* ProcessCount.automatic(4), 1)
      }
      vi.stubEnv("TMPDIR", folder)
      assert.strictEqual(yield* ProcessCount.automatic(4), 4)
    }).pipe(Effect.scoped)
  )

  it.effect("divides each cap of the edge among processes, rounded up, and leaves unlimited ones unlimited", () =>
    Effect.gen(function* () {
      const settings = yield* read({
        CT_EDGE_PROCESSES: "3",
        CT_EDGE_MAX_CONNECTIONS: "9",
        CT_EDGE_MAX_CONNECTIONS_PER_IP: "10",
        CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "1",
        CT_EDGE_MAX_VISITORS_PER_TUNNEL: "4",
        CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "none",
        CT_EDGE_RENDEZVOUS_MAX_PER_MIN: "4"
      })
      assert.containsSubset(settings, {
        connections: 3,
        connectionsPerAddress: 4,
        connectionRatePerAddress: 100,
        browserTunnels: 1,
        tunnelVisitors: 2,
        agentConnections: Number.POSITIVE_INFINITY,
        rendezvousPerMinute: 2
      })
    })
  )

  it.live("must be 1 where the system shares no address, and is 1 there by itself", () =>
    Effect.gen(function* () {
      const { listen } = Server.prototype
      // Such a system answers Node so; the one that runs the tests is not such a system.
      vi.spyOn(Server.prototype, "listen").mockImplementation(function (
        this: Server,
        ...given: ReadonlyArray<unknown>
      ): Server {
        const [options] = given
        if (typeof options !== "object" || options === null || !("reusePort" in options) || options.reusePort !== true)
          return Reflect.apply(listen, this, given)
        const refusal = Object.assign(new Error("listen ENOTSUP"), { code: "ENOTSUP" })
        process.nextTick(() => this.emit("error", refusal))
        return this
      })
      const { message } = yield* Effect.flip(start({ CT_EDGE_PROCESSES: "2" }))
      assert.strictEqual(
        message,
        "CT_EDGE_PROCESSES asks for several processes at one address, which this system does not offer; " +
          "set it to 1, or run several edges."
      )
      yield* start({ CT_EDGE_PROCESSES: "1" })
      assert.strictEqual((yield* read({ CT_EDGE_PROCESSES: "auto" })).processes, 1)
      const { metrics } = yield* start({ CT_EDGE_PROCESSES: "auto" })
      assert.isDefined((yield* Effect.promise(metrics))["ct_edge_visitor_connections"])
    }).pipe(Effect.scoped)
  )
})
