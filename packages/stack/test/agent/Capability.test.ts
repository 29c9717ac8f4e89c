/** What a capability of a mesh tunnel is worth at a real edge: visits through the edge and directly, and nothing else. */
import * as Capability from "@catenet/crypto/Capability"
import { muxAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { eventually, start, temporaryFolder, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { agent } from "@catenet/testing/stack/e2e/Stack"
import { parkAgentSlot } from "@catenet/wire/transport/AgentSlot"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, connect, type AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"

const [T, NEW] = [token("b"), token("c")]

/** An origin that answers what it has received. */
const origin = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => void socket.on("error", () => {}).pipe(socket))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close())
  ),
  (server) => `127.0.0.1:${(server.address() as AddressInfo).port}`
)

/** `ct-agent connect`, and a function that says something to the origin through it and gives the answer. */
const client = Effect.fn("client")(function* (world: TestEdge, capability: string, ...more: ReadonlyArray<string>) {
  const env = {
    CT_AGENT_CP_URL: "http://127.0.0.1:1",
    CT_AGENT_EDGE_CERT: join(world.folder, "edge-cert.der")
  }
  const process = yield* Effect.acquireRelease(
    Effect.sync(() => agent(["connect", "--capability", capability, "--listen", "127.0.0.1:0", ...more], env)),
    (started) => Effect.promise(() => started.stop("SIGKILL"))
  )
  yield* Effect.promise(() => process.printed("listening on"))
  const port = Number(/listening on .*:(\d+)/.exec(process.stderr)?.[1])
  const say = (said: string) =>
    Effect.promise(async () => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
      socket.end(said)
      return text(socket).catch(() => "cut")
    })
  return { process, say }
})

const tokenIn = (capability: string) =>
  Redacted.value(Result.getOrThrow(Capability.decode(readFileSync(capability))).routingToken)

/** How the edge answers who wants to be the agent by this token: multiplexed, and by a slot of each kind of mesh agent. */
const register = Effect.fn("register")(function* (world: TestEdge, of: Uint8Array) {
  const mux = yield* muxAgent(world)
  const answer = yield* Effect.promise(() => mux.register(Buffer.from(of).toString("hex"), []))
  const slots = yield* Effect.forEach(["A", "K"] as const, (role) =>
    Effect.promise(async () => {
      const socket = await tlsTo(world.mesh, world.meshRoot, "localhost")
      const parked = await parkAgentSlot(socket, { role, token: of })
      socket.destroy()
      return Result.isSuccess(parked) ? "parked" : parked.failure.reason
    })
  )
  mux.mux.close("normal")
  return [Result.isSuccess(answer) ? "registered" : answer.failure.code, ...slots]
})

it.live("a capability visits its tunnel, registers no agent, and ends with the routing token", () =>
  Effect.gen(function* () {
    const world = yield* start({ CT_EDGE_POW_DIFFICULTY: "4" })
    const more = { CT_AGENT_ORIGIN: yield* origin }
    const first = yield* serving(world, T, undefined, more)
    const capability = tokenIn(first.capability)
    assert.deepStrictEqual(yield* register(world, capability), ["malformed", "no", "no"])
    const { say } = yield* client(world, first.capability)
    assert.strictEqual(yield* say("hello"), "hello")
    // Neither is it taken where the tunnel was never seen.
    assert.deepStrictEqual(yield* register(yield* start(), capability), ["malformed", "no", "no"])

    const headers = { "x-ct-routing-token": T, "x-ct-successor-token": NEW }
    const { status } = yield* Effect.promise(() => world.admin("POST", "/admin/revoke", { headers }))
    assert.strictEqual(status, 200)
    const second = yield* serving(world, NEW, undefined, more)
    assert.strictEqual(yield* (yield* client(world, second.capability)).say("new"), "new")
    const refused = async () => (await world.metrics())["ct_edge_rendezvous_refused_total"]
    assert.strictEqual(yield* Effect.promise(refused), 0)
    yield* Effect.forkScoped(say("old"))
    yield* Effect.promise(() => eventually(async () => ((await refused()) ?? 0) > 1, "the old capability is refused"))
    assert.deepStrictEqual(yield* register(world, capability), ["malformed", "no", "no"])
  }).pipe(Effect.scoped)
)

it.live("a capability visits through any process of an edge", () =>
  Effect.gen(function* () {
    const world = yield* start({ CT_EDGE_POW_DIFFICULTY: "4", CT_EDGE_PROCESSES: "2" })
    const { capability } = yield* serving(world, T, undefined, { CT_AGENT_ORIGIN: yield* origin })
    const { say } = yield* client(world, capability)
    // The kernel chooses a process for each: one and the same for all of them is rarer than one in a million.
    const said = Array.from({ length: 20 }, (_, visit) => `visit ${visit}`)
    assert.deepStrictEqual(yield* Effect.forEach(said, say, { concurrency: 5 }), said)
    assert.deepStrictEqual(yield* register(world, tokenIn(capability)), ["malformed", "no", "no"])
  }).pipe(Effect.scoped)
)

it.live("a capability goes on working when the agent moves to a peer edge, and on the direct path", () =>
  Effect.gen(function* () {
    const [folder, there] = [yield* temporaryFolder, yield* temporaryFolder]
    const mesh = { CT_EDGE_POW_DIFFICULTY: "4", CT_EDGE_MESH_RELAY_ENABLED: "1", CT_EDGE_MESH_RELAY_PRIVATE: "1" }
    const left = yield* start(mesh, { folder })
    for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(folder, file), join(there, file))
    const right = yield* start(mesh, { controlPlane: left.controlPlane, folder: there })
    const more = {
      CT_AGENT_ORIGIN: yield* origin,
      CT_AGENT_ORIGIN_KEY: join(folder, "origin.key"),
      CT_AGENT_DIRECT_ADVERTISE: "127.0.0.1"
    }
    const first = yield* serving(left, T, undefined, more)
    const kept = Result.getOrThrow(Capability.decode(readFileSync(first.capability)))
    // The file names an edge; everything else of it stays as the first agent wrote it.
    const moved = join(folder, "moved.bin")
    writeFileSync(moved, Capability.encode({ ...kept, edgeAddress: `127.0.0.1:${right.mesh}` }))
    yield* Effect.promise(() => first.process.stop("SIGKILL"))
    yield* serving(right, T, undefined, { ...more, CT_AGENT_CAPABILITY_OUT: first.capability })
    const { say } = yield* client(right, moved, "--via-edge")
    assert.strictEqual(yield* say("relayed"), "relayed")
    const direct = yield* client(right, moved)
    assert.strictEqual(yield* direct.say("hello"), "hello")
    yield* Effect.promise(() => direct.process.printed("connected directly"))
  }).pipe(Effect.scoped)
)
