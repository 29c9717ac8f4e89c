/** A connection to another edge that fails is counted, and the log says what to do. */
import { tlsTo } from "@catenet/testing/edge/Agent"
import { mintPair, start, token } from "@catenet/testing/edge/TestEdge"
import { until } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import { dial, makeFailures, PeerRefused } from "../../src/mesh/PeerDial.ts"
import { Counters } from "../../src/observe/Counters.ts"

const failuresOf = () => {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
  return { lines, layer: Layer.merge(Logger.layer([logger]), Counters.layer) }
}

describe("connections between edges that fail", () => {
  it.live("by another root name the two files to copy", () => {
    const { layer, lines } = failuresOf()
    return Effect.gen(function* () {
      const there = yield* start()
      const failed = yield* makeFailures
      const refused = yield* Effect.result(
        dial({ host: "127.0.0.1", port: there.mesh }, mintPair([]).root, () => () => {})
      )
      yield* failed("192.0.2.1:4433", Result.getOrThrow(Result.flip(refused)))
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /peer=192\.0\.2\.1:4433/)
      assert.match(lines[0] ?? "", /copy edge-ca-key\.pem and edge-ca-cert\.der/)
      assert.strictEqual((yield* Counters).peerDialsFailed, 1)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("are all counted, and each peer is logged once a minute", () => {
    const { layer, lines } = failuresOf()
    return Effect.gen(function* () {
      const failed = yield* makeFailures
      for (let count = 0; count < 3; count++) for (const peer of ["a", "b"]) yield* failed(peer, new PeerRefused())
      assert.strictEqual(lines.length, 2)
      assert.match(lines[0] ?? "", /CT_EDGE_ADMIN_TOKEN/)
      yield* TestClock.adjust("59 seconds")
      yield* failed("a", new PeerRefused())
      assert.strictEqual(lines.length, 2)
      yield* TestClock.adjust("1 second")
      yield* failed("a", new PeerRefused())
      assert.strictEqual(lines.length, 3)
      assert.strictEqual((yield* Counters).peerDialsFailed, 8)
    }).pipe(Effect.provide(layer))
  })

  it.live("lose a visitor of another edge's host, and are in the metrics", () =>
    Effect.gen(function* () {
      const there = yield* start()
      const here = yield* start({ CT_EDGE_MESH_RELAY_ENABLED: "1", CT_EDGE_MESH_RELAY_PRIVATE: "1" })
      yield* Effect.promise(() => there.authorize(token("a"), "app.example.test"))
      here.controlPlane.owners.set("app.example.test", { edge_id: "there", peer_addr: `127.0.0.1:${there.mesh}` })
      const visit = yield* Effect.exit(
        Effect.tryPromise(() => tlsTo(here.frontDoor, here.meshRoot, "app.example.test"))
      )
      assert.isTrue(Exit.isFailure(visit))
      const failed = Effect.map(Effect.promise(here.metrics), (found) => found["ct_edge_peer_dials_failed_total"])
      assert.strictEqual(yield* until(failed, (count) => count !== 0), 1)
    }).pipe(Effect.scoped)
  )
})
