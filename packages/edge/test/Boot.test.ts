import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import { native } from "@catenet/crypto/native"
import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { helloFor } from "@catenet/testing/edge/Hello"
import { eventually, start, temporaryFolder, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result, Scope } from "effect"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { freePort } from "../../stack/src/Ports.ts"

const T = token("5")
const tunnelHost = "app.zone.test"

const hex = (value: unknown) => Buffer.from(String(value), "hex")

const closedPort = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => {
      socket.destroy()
      resolve(false)
    })
    socket.once("error", () => resolve(true))
  })

describe("an edge that starts", () => {
  it.live("restores hosts, tiers, windows and revocations before its first visitor", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.page = 1
      controlPlane.revoked.push(token("6"))
      controlPlane.authorizations.push(
        {
          token: token("7"),
          hostname: "own.example.test",
          tier: "passthrough",
          policy: { expires_at: 1, schedule: null }
        },
        { token: T, hostname: tunnelHost, tier: "gelb", policy: null },
        { token: token("8"), hostname: null }
      )
      const world = yield* start({}, { controlPlane })
      const agent = yield* servingAgent(world, T, [tunnelHost])
      assert.isTrue(Result.isSuccess(yield* Effect.promise(() => agent.register(token("7"), ["own.example.test"]))))
      assert.isTrue(Result.isFailure(yield* Effect.promise(() => agent.register(token("6"), []))))
      assert.isTrue(Result.isSuccess(yield* Effect.promise(() => agent.register(token("8"), []))))
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      assert.isTrue(visitor.authorized)
      visitor.destroy()
      const refused = yield* Effect.promise(() =>
        tlsTo(world.frontDoor, world.wildcardRoot, "own.example.test").then(
          () => "let in",
          () => "closed"
        )
      )
      assert.strictEqual(refused, "closed")
      assert.strictEqual((yield* Effect.promise(() => world.metrics()))["ct_edge_access_window_refused_total"], 1)
    }).pipe(Effect.scoped)
  )

  it.live("lets the first visitors of a tunnel that it restored wait for the agent, up to 3 s", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.authorizations.push({ token: T, hostname: tunnelHost, tier: "gelb", policy: null })
      const world = yield* start({}, { controlPlane })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const answer = readUntil(visitor, "served")
      visitor.write(`GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`)
      yield* Effect.sleep("300 millis")
      yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.once("data", () => stream.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserved"))
      })
      assert.match(yield* Effect.promise(() => answer), /^HTTP\/1.1 200 OK/)
      visitor.destroy()
    }).pipe(Effect.scoped)
  )

  it.live(
    "waits for an agent that comes late until four of these waits are over, and then says that none is there",
    () =>
      Effect.gen(function* () {
        const controlPlane = yield* startControlPlane
        controlPlane.authorizations.push({ token: T, hostname: tunnelHost, tier: "gelb", policy: null })
        const from = performance.now()
        const world = yield* start({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "700" }, { controlPlane })
        const started = performance.now()
        const visit = Effect.promise(async () => {
          const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
          const answer = readUntil(visitor, "\r\n")
          visitor.write(`GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`)
          const line = await answer
          visitor.destroy()
          return line
        })
        assert.match(yield* visit, /^HTTP\/1.1 502/)
        const ended = performance.now()
        assert.isAtLeast(ended - from, 4 * 700)
        assert.match(yield* visit, /^HTTP\/1.1 502/)
        assert.isAtLeast(performance.now() - ended, 700)
        assert.isBelow(started - from, 4 * 700, "the visitor came while agents were awaited")
      }).pipe(Effect.scoped)
  )

  const gatedHost = { token: T, hostname: tunnelHost, tier: "gelb", policy: null, require_login: true }

  it.live("admits no visitor without a session at a restored login gate, not even the first", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.authorizations.push(gatedHost)
      const folder = yield* temporaryFolder
      const visited = Effect.gen(function* () {
        const world = yield* start({}, { controlPlane, folder })
        const agent = yield* servingAgent(world, T, [tunnelHost])
        const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
        const answer = readUntil(visitor, "</html>")
        visitor.write(`GET / HTTP/1.1\r\nHost: ${tunnelHost}\r\n\r\n`)
        assert.match(yield* Effect.promise(() => answer), /^HTTP\/1.1 503 /)
        assert.lengthOf(agent.streams, 0)
      }).pipe(Effect.scoped)
      yield* visited
      yield* visited
    }).pipe(Effect.scoped)
  )

  it.live("closes a host that requires login where it has no wildcard certificate, also to connected visitors", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.authorizations.push({ ...gatedHost, require_login: false })
      const world = yield* start({ CT_EDGE_WILDCARD_CERT: "", CT_EDGE_WILDCARD_KEY: "" }, { controlPlane })
      const agent = yield* servingAgent(
        world,
        T,
        [tunnelHost],
        (stream) => void stream.resume().on("error", () => undefined)
      )
      const hello = yield* Effect.promise(() => helloFor(tunnelHost, ["http/1.1"]))
      const visit = Effect.sync(() => {
        const socket = connect({ host: "127.0.0.1", port: world.frontDoor })
        socket
          .on("error", () => undefined)
          .resume()
          .write(hello)
        return { closed: new Promise((resolve) => socket.once("close", resolve)) }
      })
      const before = yield* visit
      yield* Effect.promise(() => eventually(() => agent.streams.length === 1, "the visitor reaches the agent"))
      const { status } = yield* Effect.promise(() =>
        world.admin("POST", "/internal/tunnel/login", {
          headers: { "x-ct-routing-token": T },
          body: { required: true }
        })
      )
      assert.strictEqual(status, 200)
      yield* Effect.promise(() => before.closed)
      const after = yield* visit
      yield* Effect.promise(() => after.closed)
      assert.lengthOf(agent.streams, 1)
    }).pipe(Effect.scoped)
  )

  it.live("speaks TLS 1.3 alone where an agent's proof is bound to the session", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const at = (maxVersion: "TLSv1.2" | "TLSv1.3", ALPNProtocols: ReadonlyArray<string>) =>
        Effect.promise(
          () =>
            new Promise<string | null>((resolve) => {
              const options = { port: world.mesh, host: "127.0.0.1", ca: world.meshRoot, servername: "localhost" }
              const socket = connectTls({ ...options, maxVersion, ALPNProtocols: [...ALPNProtocols] }, () => {
                resolve(socket.getProtocol())
                socket.destroy()
              })
              socket.on("error", () => resolve(null))
            })
        )
      for (const protocols of [["ct-edge-mux"], ["ct-edge"]]) {
        assert.isNull(yield* at("TLSv1.2", protocols))
        assert.strictEqual(yield* at("TLSv1.3", protocols), "TLSv1.3")
      }
    }).pipe(Effect.scoped)
  )

  it.live("opens no public listener until the control plane has answered", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.down = true
      const port = yield* freePort("127.0.0.1")
      const metrics = yield* freePort("127.0.0.1")
      const starting = yield* Effect.forkScoped(
        start({ CT_FRONT_DOOR: `127.0.0.1:${port}`, CT_EDGE_METRICS_LISTEN: `127.0.0.1:${metrics}` }, { controlPlane })
      )
      yield* Effect.promise(() => eventually(() => controlPlane.requests.length >= 2, "the edge asks again"))
      assert.isTrue(yield* Effect.promise(() => closedPort(port)))
      const health = yield* Effect.promise(() => fetch(`http://127.0.0.1:${metrics}/healthz`))
      assert.strictEqual(health.status, 503)
      assert.strictEqual(yield* Effect.promise(() => health.text()), "restoring\n")
      controlPlane.down = false
      const world = yield* Fiber.join(starting)
      assert.isFalse(yield* Effect.promise(() => closedPort(port)))
      assert.strictEqual(
        (yield* Effect.promise(() => fetch(`http://127.0.0.1:${world.bound.metrics?.port}/healthz`))).status,
        200
      )
    }).pipe(Effect.scoped)
  )

  it.live("sends heartbeats in its epoch while it restores its state, and restores it once", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      const answered = Promise.withResolvers<void>()
      Object.assign(controlPlane, { epoch: "e1", restoring: answered.promise })
      const starting = yield* Effect.forkScoped(start({ CT_EDGE_HEARTBEAT_SECS: "1" }, { controlPlane }))
      const beats = (count: number) =>
        Effect.promise(() => eventually(() => controlPlane.heartbeats.length >= count, `${count} heartbeats`))
      yield* beats(3)
      answered.resolve()
      yield* Fiber.join(starting)
      yield* beats(controlPlane.heartbeats.length + 2)
      const [first, ...others] = controlPlane.heartbeats.map(({ rebuilt }) => rebuilt)
      assert.deepStrictEqual([first, new Set(others)], [null, new Set(["e1"])])
      const restores = controlPlane.requests.filter((request) => request.includes("/rehydrate/"))
      assert.lengthOf(restores, 1)
    }).pipe(Effect.scoped)
  )

  it.live("signs its heartbeats with a key that survives a restart, as its root does", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      const folder = yield* temporaryFolder
      const once = Effect.gen(function* () {
        const before = controlPlane.heartbeats.length
        yield* start({ CT_EDGE_PUBLIC_ADDR: "edge.example.test:4433" }, { controlPlane, folder })
        yield* Effect.promise(() => eventually(() => controlPlane.heartbeats.length > before, "a heartbeat arrives"))
        return readFileSync(join(folder, "edge-cert.der"))
      }).pipe(Effect.scoped)
      const [first, second] = [yield* once, yield* once]
      assert.isTrue(first.equals(second))
      const [a, b] = controlPlane.heartbeats
      assert.strictEqual(a?.["pubkey"], b?.["pubkey"])
      const said = { id: "primary", peerAddress: "edge.example.test:4433" }
      assert.isTrue(EdgeHeartbeat.verify(native, hex(a?.["pubkey"]), said, hex(a?.["signature"])))
      assert.strictEqual(statSync(join(folder, "edge-mesh-key.bin")).mode & 0o777, 0o600)
    }).pipe(Effect.scoped)
  )

  it.live("does not start with an unusable heartbeat key", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "edge-mesh-key.bin"), "torn")
      const refused = yield* Effect.flip(start({}, { folder }))
      assert.match(refused.message, /edge-mesh-key\.bin beside it, which is not a key of 32 bytes; restore it/)
    }).pipe(Effect.scoped)
  )

  it.live("names the variable of a port that is taken", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const refused = yield* Effect.flip(start({ CT_FRONT_DOOR: `127.0.0.1:${world.frontDoor}` }))
      assert.match(refused.message, /EADDRINUSE.*; move it with CT_FRONT_DOOR\.$/)
    }).pipe(Effect.scoped)
  )

  it.live("on shutdown closes its ports, lets relays finish within the grace, and drains agents", () =>
    Effect.gen(function* () {
      const controlPlane = yield* startControlPlane
      controlPlane.authorizations.push({ token: T, hostname: tunnelHost, tier: "gelb" })
      const life = yield* Scope.make()
      const world = yield* start({ CT_EDGE_SHUTDOWN_GRACE_SECS: "10" }, { controlPlane }).pipe(Scope.provide(life))
      const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.on("data", () => stream.write("one "))
        void agent.mux.draining.then(() => stream.end("last"))
      })
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
      const heard: Array<Buffer> = []
      visitor.on("data", (chunk: Buffer) => heard.push(chunk))
      visitor.once("end", () => visitor.end())
      visitor.write("\x00")
      yield* Effect.promise(() => eventually(() => heard.length > 0, "the relay runs"))
      yield* Scope.close(life, Exit.void)
      assert.strictEqual(Buffer.concat(heard).toString(), "one last")
      assert.isTrue(yield* Effect.promise(() => closedPort(world.frontDoor)))
      assert.isTrue(yield* Effect.promise(() => closedPort(world.mesh)))
    }).pipe(Effect.scoped)
  )
})
