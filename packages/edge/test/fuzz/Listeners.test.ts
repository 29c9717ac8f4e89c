/**
 * Every listener under mutated sessions. `CT_FUZZ_CASES` sets how many (CI: 50000), `CT_FUZZ_SEED` where to begin; a
 * failure is repeated with the seed it names.
 */
import { connect as connectTcp, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { connect } from "node:tls"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeMuxFrame } from "@catenet/wire/frames/MuxFrame"
import { ADMIN_TOKEN } from "../world/ControlPlane.ts"
import { readAll, servingAgent, tlsTo } from "../world/Agent.ts"
import { eventually, start, token } from "../world/World.ts"
import { mutate, type Random, random } from "./Mutation.ts"

const CASES = Number(process.env["CT_FUZZ_CASES"] ?? 1_500)
const SEED = Number(process.env["CT_FUZZ_SEED"] ?? 1)
const AT_ONCE = 32
const LIFE_MILLIS = 25
/** The longest that any phase of a connection may last without its peer. */
const BOUND_MILLIS = 45_000

const T = token("1")
const HOST = "app.zone.test"
const routing = Buffer.from(T, "hex")
const ascii = (text: string) => Buffer.from(text, "latin1")
const named = (host: string) => Buffer.concat([Buffer.of(0, host.length), ascii(host)])

const hello = (servername: string, alpn: ReadonlyArray<string>) =>
  new Promise<Buffer>((resolve) => {
    const wire = new Duplex({ read() {}, write: (chunk: Buffer) => resolve(chunk) })
    connect({ socket: wire, servername, ...(alpn.length > 0 ? { ALPNProtocols: [...alpn] } : {}) }).on(
      "error",
      () => {}
    )
  })

const admissions = [
  ...["A", "K"].map((role) => Buffer.concat([ascii(role), routing])),
  ...["B", "L", "F"].map((role) =>
    Buffer.concat([ascii(role), routing, named(HOST), ascii("\xfa\0\0\0\0\0\0\0\0\xfc\0\0\0\x01x\xfe")])
  ),
  Buffer.concat([ascii("C"), Buffer.alloc(8), routing, ascii("noise")]),
  Buffer.concat([ascii("M"), Buffer.from(ADMIN_TOKEN, "hex"), named(HOST)])
]

const muxSession = Buffer.concat([
  encodeMuxFrame({ _tag: "Hello", hello: { lowest: 1, version: 1, maxStreams: 8, initialWindow: 65_536 } }),
  encodeMuxFrame({
    _tag: "Register",
    id: 1,
    request: { token: routing, hosts: [HOST], agentId: "fuzz", wishes: { proxyProtocol: false } }
  }),
  encodeMuxFrame({ _tag: "Ping", nonce: 7n })
])

const requests = [
  ascii(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n`),
  ascii(
    `POST /a HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
  ),
  ascii(`POST /a HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 3\r\n\r\nabc`),
  ascii(`GET /ws HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00`),
  ascii(`POST /admin/authorize-host/${T}/x.test HTTP/1.1\r\nHost: a\r\nx-ct-admin-token: ${ADMIN_TOKEN}\r\n\r\n`),
  ascii(
    `POST /internal/tunnel/access-policy HTTP/1.1\r\nHost: a\r\nx-ct-admin-token: ${ADMIN_TOKEN}\r\nx-ct-routing-token: ${token("2")}\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"expires_at":1}`
  )
]
const http2 = [
  Buffer.concat([
    ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Buffer.from("000000040000000000", "hex"),
    Buffer.from("00000101050000000182", "hex"),
    Buffer.from("000008060000000000", "hex"),
    Buffer.alloc(8)
  ])
]

/** Sends the bytes in two pieces, and leaves when the edge closes or after a moment. */
const send = (socket: Socket, bytes: Buffer, { below }: Random) =>
  new Promise<void>((resolve) => {
    const leave = () => {
      socket.destroy()
      resolve()
    }
    socket.on("error", () => {})
    socket.on("data", () => {})
    socket.once("close", () => resolve())
    const cut = below(bytes.length + 1)
    socket.write(bytes.subarray(0, cut))
    setImmediate(() => {
      if (socket.destroyed) return
      socket.write(bytes.subarray(cut))
      if (below(3) === 0) socket.end()
    })
    setTimeout(leave, LIFE_MILLIS)
  })

const overTls = async (
  port: number,
  ca: string,
  name: string,
  alpn: ReadonlyArray<string>,
  bytes: Buffer,
  chance: Random
) => send(await tlsTo(port, ca, name, alpn), bytes, chance)

const overTcp = (port: number, bytes: Buffer, chance: Random) =>
  send(connectTcp({ host: "127.0.0.1", port }), bytes, chance)

it.live(
  `survives ${CASES} mutated sessions`,
  () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_HTTP_REDIRECT: "127.0.0.1:0", CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "5" })
      yield* Effect.promise(() => world.authorise(T, HOST, "gelb"))
      const hellos = yield* Effect.promise(() =>
        Promise.all([
          hello(HOST, ["h2"]),
          hello(HOST, []),
          hello("localhost", ["ct-edge-mux"]),
          hello("localhost", ["ct-edge"])
        ])
      )
      const tcpPorts = Object.values(world.bound).flatMap((address) => (address === undefined ? [] : [address.port]))
      const one = async (seed: number) => {
        const chance = random(seed)
        const bytes = (samples: ReadonlyArray<Buffer>) => mutate(samples, chance)
        switch (chance.below(6)) {
          case 0:
            return overTcp(tcpPorts[chance.below(tcpPorts.length)] ?? 0, bytes([...hellos, ...requests]), chance)
          case 1:
            return overTcp(chance.below(2) === 0 ? world.frontDoor : world.mesh, bytes(hellos), chance)
          case 2:
            return overTls(world.mesh, world.meshRoot, "localhost", [], bytes(admissions), chance)
          case 3:
            return overTls(world.mesh, world.meshRoot, "localhost", ["ct-edge-mux"], bytes([muxSession]), chance)
          case 4:
            return overTls(world.frontDoor, world.wildcardRoot, HOST, ["http/1.1"], bytes(requests), chance)
          default:
            return overTls(world.frontDoor, world.wildcardRoot, HOST, ["h2"], bytes(http2), chance)
        }
      }
      let seed = SEED
      const worker = async () => {
        while (seed < SEED + CASES) {
          const mine = seed++
          await one(mine).catch((error: unknown) => {
            throw new Error(`seed ${mine}`, { cause: error })
          })
        }
      }
      yield* Effect.promise(() => Promise.all(Array.from({ length: AT_ONCE }, worker)))
      yield* Effect.promise(() =>
        eventually(
          async () => (await world.metrics())["ct_edge_connections"] === 0,
          "every connection is let go",
          BOUND_MILLIS
        )
      )
      const after = yield* Effect.promise(() => world.metrics())
      assert.strictEqual(after["ct_edge_active_relays"], 0)
      yield* Effect.promise(() => world.authorise(T, HOST, "gelb"))
      yield* servingAgent(world, T, [HOST], (stream) => void stream.once("data", () => stream.end("still here")))
      const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, HOST))
      const answer = readAll(visitor)
      visitor.write("\x00")
      assert.strictEqual((yield* Effect.promise(() => answer)).toString(), "still here")
    }).pipe(Effect.scoped),
  { timeout: 90_000 + CASES * 20 }
)
