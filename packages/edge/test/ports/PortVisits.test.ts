import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Duplex } from "node:stream"
import { AuditLog } from "../../src/audit/AuditLog.ts"
import { VisitorPlaces } from "../../src/listen/VisitorPlaces.ts"
import { PeerEdges } from "../../src/mesh/PeerEdges.ts"
import { ConnectionFaults } from "../../src/observe/ConnectionFaults.ts"
import { Counters } from "../../src/observe/Counters.ts"
import { PortVisits } from "../../src/ports/PortVisits.ts"
import { Relays } from "../../src/relay/Relays.ts"
import { Routes, routeTable } from "../../src/routes/Routes.ts"
import { AgentSessions, TunnelOffline } from "../../src/sessions/AgentSessions.ts"

const token = "9".repeat(64)
const most = 128

/** No agent is connected here, and the edge that has one does not answer. */
const dialling: Array<string> = []
const surroundings = Layer.mergeAll(
  Layer.succeed(AgentSessions, {
    tunnel: () => undefined,
    deliverNow: () => undefined,
    deliver: () => Effect.fail(new TunnelOffline({ token }))
  } as Partial<AgentSessions["Service"]> as AgentSessions["Service"]),
  Layer.mock(PeerEdges, {
    isOn: true,
    forwardPort: ({ client }) => {
      dialling.push(client.address)
      return Effect.never
    }
  }),
  Layer.succeed(AuditLog, {} as AuditLog["Service"]),
  Layer.succeed(Relays, {} as Relays["Service"]),
  Layer.succeed(VisitorPlaces, {} as VisitorPlaces["Service"]),
  Layer.succeed(Routes, routeTable(true)),
  ConnectionFaults.layer,
  Counters.layer
)

const visitor = (remoteAddress: string) =>
  Object.assign(new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() }), {
    remoteAddress,
    remotePort: 1,
    localAddress: "192.0.2.100",
    localPort: 20_022
  })

describe("visitors of ports", () => {
  it.effect("whom another edge is dialled for get in from an address with fewer than one that takes every place", () =>
    Effect.gen(function* () {
      const visits = yield* PortVisits
      const come = (address: string, protocol: "tcp" | "udp" = "tcp") => {
        const seen = { visitor: visitor(address), isOffline: false }
        visits.pass(token, protocol, seen.visitor, () => (seen.isOffline = true))
        return seen
      }
      const crowd = Array.from({ length: most }, () => come("192.0.2.1"))
      yield* Effect.yieldNow
      assert.strictEqual(dialling.length, most)
      assert.isFalse(crowd.some(({ isOffline, visitor }) => isOffline || visitor.destroyed))
      const tooMany = come("192.0.2.1")
      yield* Effect.yieldNow
      assert.isTrue(tooMany.isOffline)
      come("192.0.2.2")
      yield* Effect.yieldNow
      assert.strictEqual(dialling.at(-1), "192.0.2.2")
      assert.strictEqual(crowd.filter(({ visitor }) => visitor.destroyed).length, 1)
      // Those of the other protocol have places of their own.
      come("192.0.2.1", "udp")
      yield* Effect.yieldNow
      assert.strictEqual(dialling.length, most + 2)
    }).pipe(Effect.provide(Layer.effect(PortVisits, PortVisits.make).pipe(Layer.provide(surroundings))), Effect.scoped)
  )
})
