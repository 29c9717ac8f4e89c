import { readAll, servingAgent } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { eventually, start, temporaryFolder, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { DatagramStream } from "@catenet/wire/transport/DatagramStream"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createSocket } from "node:dgram"
import { copyFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import * as Ports from "../../../stack/src/Ports.ts"

const owner = token("8")
const variables = {
  CT_EDGE_MESH_RELAY_ENABLED: "1",
  CT_EDGE_MESH_RELAY_PRIVATE: "1",
  CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "100",
  CT_EDGE_MAX_CONNECTIONS_PER_IP: "1000"
}

const post = (edge: TestEdge, path: string, body: unknown) =>
  Effect.promise(async () => {
    const { status } = await edge.admin("POST", path, { headers: { "x-ct-routing-token": owner }, body })
    assert.strictEqual(status, 200)
  })

/** Two edges with one CA and one control plane. The first offers ports, and the second, which does not, is where agents connect. */
const two = Effect.gen(function* () {
  const port = yield* Ports.freePort("127.0.0.1")
  const controlPlane = yield* startControlPlane
  const [here, there] = [yield* temporaryFolder, yield* temporaryFolder]
  const serving = yield* start(variables, { controlPlane, folder: there })
  for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(there, file), join(here, file))
  const offered = { CT_EDGE_PORTS: String(port), CT_EDGE_UDP_PORTS: String(port) }
  const receiving = yield* start({ ...variables, ...offered }, { controlPlane, folder: here })
  const setPort = (protocol: "tcp" | "udp") => post(receiving, "/internal/tunnel/port", { protocol, port })
  const servedBy = (protocol: "tcp" | "udp", mesh: number) =>
    controlPlane.owners.set(`${protocol}/${port}`, { edge_id: "second", peer_addr: `127.0.0.1:${mesh}` })
  return { controlPlane, port, receiving, serving, servedBy, setPort }
})

const dial = (port: number, localAddress = "127.0.0.1") =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress, allowHalfOpen: true }, () => resolve(socket))
    socket.once("error", reject)
    socket.on("error", () => undefined)
  })

const answer = (port: number, localAddress?: string) =>
  dial(port, localAddress)
    .then(readAll)
    .then(String, () => "closed")

describe("a public port whose agent is at another edge", () => {
  it.live("carries bytes both ways to their ends, with the visitor's own address, which the rules there judge", () =>
    Effect.gen(function* () {
      const { controlPlane, port, receiving, servedBy, serving, setPort } = yield* two
      const agent = yield* servingAgent(serving, owner, [], (stream) => {
        stream.write("hello ")
        void readAll(stream).then((bytes) => stream.end(`${bytes.length} bytes`))
      })
      yield* setPort("tcp")
      servedBy("tcp", serving.mesh)
      yield* Effect.promise(() =>
        eventually(
          () =>
            dial(port).then(
              () => true,
              () => false
            ),
          "the port is open"
        )
      )
      const visitor = yield* Effect.promise(() => dial(port, "127.0.0.3"))
      const heard = readAll(visitor)
      visitor.end(Buffer.alloc(1_000_000))
      assert.strictEqual((yield* Effect.promise(() => heard)).toString(), "hello 1000000 bytes")
      const header = agent.streams.at(-1)?.header
      assert.deepInclude(header, { kind: "visitor", tls: "none" })
      assert.deepStrictEqual([header?.client?.address, header?.server?.port], ["127.0.0.3", port])
      assert.include(
        controlPlane.requests.find((request) => request.includes("/lookup")),
        `port=tcp%2F${port}`
      )
      yield* post(serving, "/internal/tunnel/rules", [{ allow: ["127.0.0.4/32"] }])
      assert.notInclude(yield* Effect.promise(() => answer(port, "127.0.0.3")), "hello")
      const allowed = yield* Effect.promise(() => dial(port, "127.0.0.4"))
      allowed.end()
      assert.strictEqual((yield* Effect.promise(() => readAll(allowed))).toString(), "hello 0 bytes")
      assert.strictEqual((yield* Effect.promise(serving.metrics))['ct_edge_rule_refused_total{rule="allow"}'], 1)
      const crossed = (yield* Effect.promise(receiving.metrics))['ct_edge_peer_visitors_total{direction="to_peer"}']
      assert.isAtLeast(crossed ?? 0, 3)
    }).pipe(Effect.scoped)
  )

  it.live("carries datagrams with their boundaries", () =>
    Effect.gen(function* () {
      const { port, servedBy, serving, setPort } = yield* two
      yield* servingAgent(serving, owner, [], (stream) => {
        const session = new DatagramStream(stream)
        session.on("data", (datagram: Buffer) => session.write(datagram))
      })
      servedBy("udp", serving.mesh)
      yield* setPort("udp")
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => createSocket("udp4")),
        (socket) => Effect.sync(() => void socket.close())
      )
      const got = new Set<number>()
      client.on("message", ({ length }) => got.add(length))
      // A datagram that comes before the port is open is lost, as on any network.
      const isAnswered = () => {
        for (const length of [1, 1_400, 9_000]) client.send(Buffer.alloc(length), port, "127.0.0.1")
        return Promise.resolve(got.size >= 3)
      }
      yield* Effect.promise(() => eventually(isAnswered, "every datagram is answered"))
      assert.deepStrictEqual(
        [...got].toSorted((a, b) => a - b),
        [1, 1_400, 9_000]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is closed to visitors while no edge has an agent, and asks the control plane once a second", () =>
    Effect.gen(function* () {
      const { controlPlane, port, servedBy, receiving, setPort } = yield* two
      const from = performance.now()
      yield* setPort("tcp")
      yield* Effect.promise(() =>
        eventually(
          () =>
            dial(port).then(
              () => true,
              () => false
            ),
          "the port is open"
        )
      )
      for (let n = 0; n < 10; n++) assert.strictEqual(yield* Effect.promise(() => answer(port)), "")
      const lookups = controlPlane.requests.filter((request) => request.includes("/lookup")).length
      assert.isAtMost(lookups, 2 + (performance.now() - from) / 1_000)
      // An edge that the control plane names and that has none either does not pass the visitor on.
      servedBy("tcp", receiving.mesh)
      assert.strictEqual(yield* Effect.promise(() => answer(port)), "")
    }).pipe(Effect.scoped)
  )
})
