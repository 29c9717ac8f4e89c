/**
 * The agent under mutated sessions: edges that speak nonsense on both carriers, strangers at the direct listener and at the
 * local endpoints, and for `connect` an edge and an origin that speak nonsense. `CT_FUZZ_CASES` sets how many, `CT_FUZZ_SEED`
 * where to begin. A crash is an unhandled error, which fails the run.
 */
import { native } from "@catenet/crypto/native"
import { makeHome } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { mutate, type Random, random } from "@catenet/testing/edge/fuzz/Mutation"
import { until } from "@catenet/testing/Eventually"
import { encodeChallenge } from "@catenet/wire/frames/Rendezvous"
import * as ProcessFaults from "@catenet/wire/transport/ProcessFaults"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted, References, Result, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { writeFile } from "node:fs/promises"
import { type AddressInfo, connect, type Server, type Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { freePort } from "../../../stack/src/Ports.ts"
import { QuicDial } from "../../src/carrier/QuicDial.ts"
import * as DirectPathState from "../../src/connect/DirectPathState.ts"
import * as MeshClient from "../../src/connect/MeshClient.ts"
import * as DirectListener from "../../src/mesh/DirectListener.ts"
import * as MeshHandshake from "../../src/mesh/MeshHandshake.ts"
import * as NoiseTermination from "../../src/mesh/NoiseTermination.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { Events } from "../../src/observe/Events.ts"
import * as LocalHttpServer from "../../src/observe/LocalHttpServer.ts"
import { ConnectionInfo } from "../../src/onboard/ConnectionInfo.ts"
import * as BrowserClients from "../../src/tunnel/BrowserClients.ts"
import * as CertificatePair from "../../src/tunnel/CertificatePair.ts"
import * as Origin from "../../src/tunnel/Origin.ts"
import * as OriginConnections from "../../src/tunnel/OriginConnections.ts"
import * as Registrar from "../../src/tunnel/Registrar.ts"
import * as TlsAlpnResponder from "../../src/tunnel/TlsAlpnResponder.ts"
import * as TlsTermination from "../../src/tunnel/TlsTermination.ts"
import { echo, startOrigin } from "../harness/Origins.ts"
import { parse } from "../harness/Settings.ts"
import * as Sessions from "./Sessions.ts"

const cases = Number(process.env["CT_FUZZ_CASES"] ?? 300)
const firstSeed = Number(process.env["CT_FUZZ_SEED"] ?? 1)
const atOnce = 6
const lifeMillis = 25
/** The longest that the agent may go on with what no longer has a peer. */
const bound = "120 seconds"
const host = "hello.example"
const token = new Uint8Array(32).fill(0xab)
const key = native.x25519.keyPair(new Uint8Array(32).fill(3))
const difficulties = [0, 1, 6, 33, 255]

/** Sends the bytes in two pieces, and leaves after a moment. */
const send = (socket: Socket, bytes: Buffer, { below }: Random) =>
  new Promise<void>((resolve) => {
    socket.on("error", () => {})
    socket.on("data", () => {})
    socket.once("close", () => resolve())
    if (socket.destroyed) return resolve()
    const cut = below(bytes.length + 1)
    socket.write(bytes.subarray(0, cut))
    setImmediate(() => {
      if (socket.destroyed) return
      socket.write(bytes.subarray(cut))
      if (below(3) === 0) socket.end()
    })
    return void setTimeout(() => socket.destroy(), lifeMillis)
  })

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.promise(
      () => new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve(portOf(server))))
    ),
    () => Effect.sync(() => void server.close())
  )
const portOf = (server: Server) => (server.address() as AddressInfo).port

const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length

const authority = makeAuthority()
const leaf = authority.leaf("localhost")

/** The edges' own ends of their connections; some sessions break before there is TLS on them. */
const ours = new Set<Socket>()

/** An edge that answers whatever comes by a script; `chance` is the connection's own. */
const scripted = (
  next: () => number,
  alpn: ReadonlyArray<string>,
  script: (socket: TLSSocket, chance: Random) => void
) => {
  const ALPNCallback = ({ protocols }: { readonly protocols: ReadonlyArray<string> }) =>
    alpn[next() % alpn.length] ?? protocols[0]
  const server = createServer({ ...leaf, allowHalfOpen: true, ALPNCallback }, (socket) => {
    socket.on("error", () => {})
    script(socket, random(next()))
  })
  server.on("connection", (socket) => {
    ours.add(socket)
    socket.once("close", () => ours.delete(socket))
  })
  return listening(server)
}

const home = Effect.acquireRelease(Effect.promise(makeHome), (made) =>
  Effect.promise(() => made[Symbol.asyncDispose]())
)

const program = Effect.gen(function* () {
  const { path } = yield* home
  const origin = yield* Effect.acquireRelease(
    Effect.promise(() => startOrigin(echo)),
    (started) => Effect.promise(() => started[Symbol.asyncDispose]())
  )
  const metrics = yield* AgentMetrics
  const pair = authority.leaf(host)
  yield* Effect.promise(() => writeFile(`${path}/fullchain.pem`, pair.cert))
  yield* Effect.promise(() => writeFile(`${path}/privkey.pem`, pair.key))
  let seed = firstSeed
  const next = () => seed++
  const before = sockets()

  const settings = {
    ...Result.getOrThrow(
      parse({
        CT_AGENT_CP_URL: "http://127.0.0.1:1",
        CT_AGENT_MODE: "browser",
        CT_AGENT_HOSTNAME: host,
        CT_AGENT_ORIGIN: origin.address,
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_ACME_CERT_OUT_DIR: path,
        CT_AGENT_STATE_DIR: path,
        CT_AGENT_TRANSPORTS: "mux,slots",
        CT_AGENT_FRAMED_FALLBACK: "1",
        CT_AGENT_TCP_FALLBACK_POOL_SIZE: "2"
      })
    ),
    reconnect: { maxAttempts: undefined, baseMillis: 1, maxMillis: 2 }
  }
  const terminating = yield* OriginConnections.open(settings.origin)
  const plain = { ...terminating, terminate: undefined }
  const files = terminating.terminate ?? { certificate: "", key: "" }
  const clients = yield* Effect.promise(() => Sessions.visitors(host))
  const noises = [MeshHandshake.question, new Uint8Array()].map((said) => Sessions.noise(key.publicKey, said))
  const ticketed = Sessions.noise(key.publicKey, MeshHandshake.ticket(token))

  /** Agents of one kind that register again and again at an edge that answers with mutations of these. */
  const besieged = Effect.fnUntraced(function* (
    handler: BrowserClients.Handler,
    begins: ReadonlyArray<Buffer>,
    mesh: boolean
  ) {
    const mux = [yield* Effect.promise(() => Sessions.muxEdge(host, begins))]
    const slots = Sessions.slotEdge(begins)
    let seen = 0
    const enough = yield* Deferred.make<void>()
    const port = yield* scripted(next, ["ct-edge-mux", "ct-edge"], (socket, chance) => {
      if (++seen >= cases / 4) Deferred.doneUnsafe(enough, Effect.void)
      void send(socket, mutate(socket.alpnProtocol === "ct-edge-mux" ? mux : slots, chance), chance)
    })
    const info = {
      edge: Effect.succeed({ host: "127.0.0.1", port }),
      ca: Effect.succeed(authority.pem),
      refreshCa: Effect.undefined
    }
    const registration = {
      token: Redacted.make(token),
      host: mesh ? undefined : host,
      agentId: "fuzz",
      identity: Redacted.make(token),
      proxyProtocol: false
    }
    const one = Effect.scoped(
      Effect.flatMap(Origin.make, (streams) => Registrar.serve(settings, registration, handler, streams))
    ).pipe(Effect.ignore, Effect.repeat(Schedule.forever), Effect.provideService(ConnectionInfo, info))
    const agents = yield* Effect.forEach(Array.from({ length: atOnce }), () => Effect.forkScoped(one))
    return Effect.andThen(
      Deferred.await(enough),
      Effect.forEach(agents, Fiber.interrupt, { concurrency: "unbounded", discard: true })
    )
  })

  const { direct, relayed } = yield* NoiseTermination.make(plain, [key], Redacted.make(token), "prefer")
  const streams = yield* Origin.make
  const listener = yield* DirectListener.open({
    advertise: "127.0.0.1",
    port: 0,
    serve: (socket, admitted) => streams.run(direct(socket, admitted))
  })
  assert.isDefined(listener)
  const endpoints = { host: "127.0.0.1", port: yield* freePort("127.0.0.1") }
  yield* Layer.build(
    LocalHttpServer.layer(endpoints, { token: undefined, tokenFile: undefined, stored: "/nonexistent/login" })
  )

  /** Strangers, one after the other, at a port. */
  const strangers = (port: number, samples: ReadonlyArray<Buffer>) =>
    Effect.promise(async () => {
      for (let left = cases / 8 / atOnce; left > 0; left--) {
        const chance = random(next())
        await send(connect({ port, host: "127.0.0.1" }), mutate(samples, chance), chance)
      }
    }).pipe(Effect.replicateEffect(atOnce, { concurrency: "unbounded" }))

  const replies = [
    MeshHandshake.answerDirectQuestion({ host: "127.0.0.1", port: listener?.port ?? 0 }),
    new Uint8Array()
  ]
  const clientEdge = yield* scripted(next, ["ct-edge"], (socket, chance) => {
    const difficulty = difficulties[chance.below(difficulties.length)] ?? 0
    socket.once("data", () => {
      socket.write(mutate([encodeChallenge({ nonce: chance.bytes(16), difficulty })], chance))
      socket.once("data", (solution: Buffer) => {
        socket.pause()
        socket.unshift(solution.subarray(40))
        const said = mutate(replies.map(Buffer.from), chance)
        Effect.runFork(
          MeshHandshake.answer(socket, [key], () => Result.succeed(said)).pipe(
            Effect.flatMap(({ session }) =>
              Effect.sync(() => {
                const frames = [1, 0, 300].map((length) => session.transport.encryptFrame(chance.bytes(length)))
                void send(socket, mutate([Buffer.concat(frames.map(Result.getOrThrow))], chance), chance)
              })
            ),
            Effect.ignore,
            Effect.provide(SecureRandom.layerWebCrypto)
          )
        )
      })
    })
    setTimeout(() => socket.destroy(), 4 * lifeMillis)
  })
  const target = {
    capability: { routingToken: Redacted.make(token), originKey: key.publicKey, edgeAddress: "" },
    edge: { host: "127.0.0.1", port: clientEdge },
    ca: authority.pem,
    postQuantum: "prefer" as const,
    faults: yield* ProcessFaults.make(() => undefined)
  }
  const asking = Effect.gen(function* () {
    for (let left = cases / 8 / atOnce; left > 0; left--) {
      const chance = random(next())
      const route = chance.below(4) === 0 ? undefined : DirectPathState.make()
      const stream = yield* Effect.option(MeshClient.open({ ...target, route, datagrams: chance.below(2) === 0 }))
      if (stream._tag === "None") continue
      stream.value.write("hello")
      stream.value.resume()
      yield* Effect.sleep(chance.below(lifeMillis))
      stream.value.destroy()
    }
  }).pipe(Effect.replicateEffect(atOnce, { concurrency: "unbounded" }))

  const passthrough = yield* TlsAlpnResponder.make(path, plain, metrics, BrowserClients.make(plain, metrics))
  const terminate = yield* TlsAlpnResponder.make(
    path,
    terminating,
    metrics,
    TlsTermination.make(terminating, yield* CertificatePair.watch({ ...files, isAwaited: false }), metrics)
  )
  yield* Effect.all(
    [
      Effect.flatten(besieged(passthrough, clients, false)),
      Effect.flatten(besieged(terminate, clients, false)),
      Effect.flatten(besieged(relayed(listener), noises, true)),
      strangers(listener?.port ?? 0, [ticketed, ...noises]),
      strangers(endpoints.port, Sessions.requests),
      asking
    ],
    { concurrency: "unbounded", discard: true }
  )

  // Nothing is left over, and everybody still serves.
  for (const socket of ours) socket.destroy()
  yield* until(
    Effect.sync(() => metrics.tasksLive() + sockets() - before),
    (left) => left <= 0
  ).pipe(Effect.timeout(bound))
  const health = yield* Effect.promise(() => fetch(`http://127.0.0.1:${endpoints.port}/metrics`))
  assert.strictEqual(health.status, 200)
  const honest = connect({ port: listener?.port ?? 0, host: "127.0.0.1" })
  yield* MeshHandshake.begin(honest, key.publicKey, MeshHandshake.ticket(token))
  honest.destroy()
})

it.live(
  `survives ${cases} mutated sessions`,
  () =>
    program.pipe(
      Effect.scoped,
      Effect.provide(
        Events.layer("/dev/null/nowhere").pipe(
          Layer.provideMerge(AgentMetrics.layer),
          Layer.provideMerge(Layer.mergeAll(SecureRandom.layerWebCrypto, NodeFileSystem.layer, QuicDial.layer))
        )
      ),
      Effect.provideService(References.MinimumLogLevel, "None")
    ),
  { timeout: 240_000 + cases * 20 }
)
