import { readAll, readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { preface, resets } from "@catenet/testing/edge/floods/Frames"
import { http2Fields, http2Frame } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, mintPair, start, temporaryFolder, token } from "@catenet/testing/edge/TestEdge"
import { until } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { copyFileSync } from "node:fs"
import { createServer } from "node:http"
import { connect as connectTcp, type Socket } from "node:net"
import { join } from "node:path"
import { connect as connectTls, TLSSocket } from "node:tls"
import { resetsPerMinute } from "../../src/terminate/RapidResetLimiter.ts"

const T = token("a")
const meshRelay = { CT_EDGE_MESH_RELAY_ENABLED: "1", CT_EDGE_MESH_RELAY_PRIVATE: "1" }

/** Two edges with one CA and one control plane, which says that the second one serves `hosts`. */
const two = Effect.fn("two")(function* (
  hosts: ReadonlyArray<string>,
  variables: Record<string, string> = {},
  /** Of the edge that does not serve them. */
  life?: Scope.Scope
) {
  const controlPlane = yield* startControlPlane
  const [here, there] = [yield* temporaryFolder, yield* temporaryFolder]
  const serving = yield* start(meshRelay, { controlPlane, folder: there })
  for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(there, file), join(here, file))
  const starting = start({ ...meshRelay, ...variables }, { controlPlane, folder: here })
  const receiving = yield* life === undefined ? starting : starting.pipe(Scope.provide(life))
  for (const host of hosts) {
    controlPlane.owners.set(host, { edge_id: "second", peer_addr: `127.0.0.1:${serving.mesh}` })
  }
  return { controlPlane, receiving, serving }
})

describe("two edges", () => {
  it.live("bring a visitor to the edge that serves the host, passthrough and gelb", () =>
    Effect.gen(function* () {
      const { controlPlane, receiving, serving } = yield* two(["own.example.test", "app.zone.test"])
      yield* Effect.promise(() => serving.authorize(T, "own.example.test"))
      yield* Effect.promise(() => serving.authorize(T, "app.zone.test", "gelb"))
      const origin = mintPair(["own.example.test"])
      yield* servingAgent(serving, T, ["own.example.test", "app.zone.test"], (stream) => {
        if (stream.header.host === "app.zone.test") {
          stream.once("data", () => stream.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngelb"))
          return
        }
        const server = new TLSSocket(stream as unknown as Socket, {
          isServer: true,
          cert: origin.cert,
          key: origin.key
        })
        server.on("error", () => undefined)
        server.once("data", () => server.end("own"))
      })
      const ask = (root: string, host: string) =>
        Effect.promise(async () => {
          const visitor = await tlsTo(receiving.frontDoor, root, host)
          const answer = readAll(visitor)
          visitor.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
          const text = (await answer).toString()
          visitor.end()
          return text
        })
      assert.strictEqual(yield* ask(origin.root, "own.example.test"), "own")
      assert.match(yield* ask(serving.wildcardRoot, "app.zone.test"), /gelb$/)
      const metrics = yield* Effect.promise(() => receiving.metrics())
      assert.strictEqual(metrics['ct_edge_peer_visitors_total{direction="to_peer"}'], 2)
      const second = { edge_id: "second", peer_addr: `127.0.0.1:${serving.mesh}` }
      controlPlane.owners.set("own.example.test", { edge_id: "gone", peer_addr: "127.0.0.1:1", others: [second] })
      assert.strictEqual(yield* ask(origin.root, "own.example.test"), "own", "the second edge, where the first is gone")
    }).pipe(Effect.scoped)
  )

  it.live("forward no visitor whose own address the rules refuse, though they allow the address of the edge", () =>
    Effect.gen(function* () {
      const host = "app.zone.test"
      const { receiving, serving } = yield* two([host])
      for (const edge of [receiving, serving]) {
        yield* Effect.promise(() => edge.authorize(T, host, "gelb"))
        const headers = { "x-ct-routing-token": T }
        const body = [{ allow: ["127.0.0.1/32"] }, { max_body: "1 MiB" }]
        yield* Effect.promise(() => edge.admin("POST", "/internal/tunnel/rules", { headers, body }))
      }
      const origin = createServer((_request, response) => void response.end("served"))
      yield* servingAgent(serving, T, [host], (stream) => void origin.emit("connection", stream))
      const statusFrom = (localAddress: string) =>
        Effect.promise(async () => {
          // Both edges of a test have wildcards of their own.
          const ca = [serving.wildcardRoot, receiving.wildcardRoot]
          const under = connectTcp({ host: "127.0.0.1", port: receiving.frontDoor, localAddress })
          const visitor = connectTls({ socket: under, servername: host, ca })
          visitor.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
          const answer = (await readAll(visitor)).toString()
          visitor.destroy()
          return answer.slice(0, 12)
        })
      assert.strictEqual(yield* statusFrom("127.0.0.1"), "HTTP/1.1 200")
      assert.strictEqual(yield* statusFrom("127.0.0.3"), "HTTP/1.1 403")
    }).pipe(Effect.scoped)
  )

  it.live("use the last answer of a control plane that is silent or down, and forget it when the host is gone", () =>
    Effect.gen(function* () {
      const { controlPlane, receiving, serving } = yield* two(["app.zone.test"])
      yield* Effect.promise(() => serving.authorize(T, "app.zone.test", "gelb"))
      yield* servingAgent(serving, T, ["app.zone.test"], (stream) => {
        stream.once("data", () => stream.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngelb"))
      })
      const visit = Effect.tryPromise(async () => {
        const visitor = await tlsTo(receiving.frontDoor, serving.wildcardRoot, "app.zone.test")
        const answer = readAll(visitor)
        visitor.write("GET / HTTP/1.1\r\nHost: app.zone.test\r\n\r\n")
        const text = (await answer).toString()
        visitor.end()
        return text
      })
      assert.match(yield* visit, /gelb$/)
      controlPlane.down = true
      assert.match(yield* visit, /gelb$/)
      Object.assign(controlPlane, { down: false, silent: true })
      const from = performance.now()
      assert.match(yield* visit, /gelb$/)
      assert.isBelow(performance.now() - from, 5_000, "and does not wait for the end of the call")
      controlPlane.silent = false
      controlPlane.owners.clear()
      const gone = Effect.map(Effect.exit(visit), Exit.isFailure)
      assert.isTrue(yield* until(gone, (isGone) => isGone))
    }).pipe(Effect.scoped)
  )

  it.live("let visitors whom they passed on finish during the grace of a shutdown, then cut them", () =>
    Effect.gen(function* () {
      const life = yield* Scope.make()
      const { receiving, serving } = yield* two(["app.zone.test"], { CT_EDGE_SHUTDOWN_GRACE_SECS: "1" }, life)
      yield* Effect.promise(() => serving.authorize(T, "app.zone.test", "gelb"))
      const agent = yield* servingAgent(serving, T, ["app.zone.test"], (stream) => {
        stream.once("data", () => stream.write("one "))
      })
      const visit = () => tlsTo(receiving.frontDoor, serving.wildcardRoot, "app.zone.test")
      const begun = async () => {
        const visitor = await visit()
        const heard = readAll(visitor).catch(() => "torn")
        visitor.write("\x00")
        await new Promise((resolve) => visitor.once("data", resolve))
        visitor.once("end", () => visitor.end())
        return { heard }
      }
      const [finishing, staying] = [yield* Effect.promise(begun), yield* Effect.promise(begun)]
      const before = performance.now()
      const leaving = yield* Effect.forkChild(Scope.close(life, Exit.void))
      const refused = () =>
        visit().then(
          () => false,
          () => true
        )
      yield* Effect.promise(() => eventually(refused, "the edge takes no new visitors"))
      agent.streams[0]?.end("last")
      assert.strictEqual((yield* Effect.promise(() => finishing.heard)).toString(), "one last")
      yield* Fiber.join(leaving)
      assert.isAtLeast(performance.now() - before, 950)
      assert.notInclude((yield* Effect.promise(() => staying.heard)).toString(), "last")
    }).pipe(Effect.scoped)
  )

  it.live("give each visitor that one passes to the other a budget of HTTP/2 resets of its own", () =>
    Effect.gen(function* () {
      const host = "app.zone.test"
      const { receiving, serving } = yield* two([host])
      yield* Effect.promise(() => serving.authorize(T, host, "gelb"))
      const origin = createServer((_request, response) => void response.end("served"))
      yield* servingAgent(serving, T, [host], (stream) => void origin.emit("connection", stream))
      const visit = Effect.acquireRelease(
        Effect.promise(() => tlsTo(receiving.frontDoor, serving.wildcardRoot, host, ["h2"])),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const [flooding, within] = [yield* visit, yield* visit]
      const hearing = readAll(flooding)
      flooding.write(Buffer.concat([preface, resets(host, resetsPerMinute + 200, 8)]))
      yield* Effect.promise(() => hearing)
      within.write(Buffer.concat([preface, resets(host, resetsPerMinute - 50, 8)]))
      const last = 2 * resetsPerMinute + 1
      const asked = http2Frame(1, 5, 0, http2Fields(0x82, host))
      asked.writeUInt32BE(last, 5)
      within.write(asked)
      yield* Effect.promise(() => readUntil(within, "served"))
      const metrics = yield* Effect.promise(() => serving.metrics())
      assert.strictEqual(metrics["ct_edge_rapid_reset_closed_total"], 1)
      assert.strictEqual(metrics['ct_edge_peer_visitors_total{direction="from_peer"}'], 2)
    }).pipe(Effect.scoped)
  )

  it.live("never send a visitor in circles, ask once for an unknown host, and dial no private address by default", () =>
    Effect.gen(function* () {
      const { controlPlane, receiving, serving } = yield* two(["lost.example.test"])
      controlPlane.owners.set("loop.example.test", { edge_id: "second", peer_addr: `127.0.0.1:${receiving.mesh}` })
      const visit = (port: number, host: string) =>
        Effect.promise(() =>
          tlsTo(port, receiving.meshRoot, host).then(
            () => "in",
            () => "closed"
          )
        )
      const lookups = () => controlPlane.requests.filter((request) => request.includes("/lookup")).length
      assert.strictEqual(yield* visit(receiving.frontDoor, "loop.example.test"), "closed")
      assert.strictEqual(lookups(), 1)
      assert.strictEqual(yield* visit(receiving.frontDoor, "unknown.example.test"), "closed")
      assert.strictEqual(yield* visit(receiving.frontDoor, "unknown.example.test"), "closed")
      assert.strictEqual(lookups(), 2)
      // What the control plane could not answer is asked again a second later, and not at once.
      controlPlane.down = true
      for (let n = 0; n < 3; n++) assert.strictEqual(yield* visit(receiving.frontDoor, "away.example.test"), "closed")
      const asked = lookups()
      controlPlane.down = false
      yield* Effect.promise(() =>
        eventually(async () => {
          await Effect.runPromise(visit(receiving.frontDoor, "away.example.test"))
          return lookups() > asked
        }, "it is asked again")
      )
      assert.isAtMost(asked, 2 + 2)
      const careful = yield* start({ CT_EDGE_MESH_RELAY_ENABLED: "1" }, { controlPlane })
      yield* Effect.promise(() => serving.authorize(T, "lost.example.test"))
      assert.strictEqual(yield* visit(careful.frontDoor, "lost.example.test"), "closed")
      assert.strictEqual(
        (yield* Effect.promise(() => serving.metrics()))['ct_edge_peer_visitors_total{direction="from_peer"}'],
        0
      )
    }).pipe(Effect.scoped)
  )
})
