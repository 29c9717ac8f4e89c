/** What an agent does by the policy of its tunnel with visitors whose TLS it ends, over HTTP/1.1 and HTTP/2. */
import { native } from "@catenet/crypto/native"
import { AccessPolicy, WeeklySchedule } from "@catenet/domain/edges/AccessPolicy"
import { allOff } from "@catenet/domain/edges/TunnelOptions"
import { GateAnswer } from "@catenet/domain/tunnels/GateVisit"
import { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import { PublicKey } from "@catenet/domain/values/Keys"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { createServer as createTcpServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { KeptPolicy } from "../../src/policy/KeptPolicy.ts"
import type { PolicyClient } from "../../src/policy/PolicyClient.ts"
import * as TunnelGate from "../../src/policy/TunnelGate.ts"
import * as AgentCardResponder from "../../src/tunnel/AgentCardResponder.ts"
import { usualBounds } from "../../src/tunnel/FirstRequestHead.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import * as TerminatingPort from "../harness/TerminatingPort.ts"

const temporaryFolder = temporaryFolders("ct-enforcement-")
const { host } = TerminatingPort
const session = "S".repeat(43)
const seed = new Uint8Array(32).fill(3)

const policyOf = (more: Partial<TunnelPolicy>) =>
  new TunnelPolicy({
    revision: 1,
    require_login: false,
    sign_in: "https://portal.test/gate/start",
    share_epoch: 0,
    access: null,
    options: allOff,
    ...more
  })

/** A port of an agent with this policy, undefined for one that it does not know, and an origin that counts its connections. */
const stage = Effect.fnUntraced(function* (policy: TunnelPolicy | undefined, { gated = false, age = 0 } = {}) {
  const clock = { now: 1_000_000_000 }
  const kept = new KeptPolicy(() => clock.now, 3_600)
  if (policy === undefined) kept.settle()
  else kept.confirmed("t", { policy, etag: "e" })
  clock.now += age * 1_000
  let fetched = 0
  const unused = () => Effect.die("not asked here")
  const client: PolicyClient = {
    fetch: () =>
      Effect.suspend(() => {
        fetched += 1
        return Effect.fail(new Error("the control plane is away"))
      }),
    redeem: unused,
    caller: unused,
    endSession: unused,
    session: () => Effect.succeed(new GateAnswer({ identity: "vera@example.test", expires_at: null, sign_in: null }))
  }
  const enforcement = yield* TunnelGate.make(kept, client, Redacted.make(seed), yield* AgentMetrics)
  let reached = 0
  const http = createServer((_request, response) => void response.end("the origin"))
  const origin = createTcpServer((socket) => {
    reached += 1
    http.emit("connection", socket)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void origin.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => (http.closeAllConnections(), void origin.close()))
  )
  const card = join(temporaryFolder(), "card.json")
  writeFileSync(card, "{}")
  const { port } = origin.address() as AddressInfo
  const demands = { enforcement, gated }
  const responder = yield* AgentCardResponder.make(card)
  const { tls } = yield* TerminatingPort.open(port, usualBounds, responder, undefined, demands)
  const secure = (alpn: ReadonlyArray<string>) =>
    Effect.acquireRelease(
      Effect.callback<TLSSocket>((resume) => {
        const socket = tls("127.0.0.1", alpn)
        socket.once("secureConnect", () => resume(Effect.succeed(socket)))
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
  const say = Effect.fnUntraced(function* (bytes: string) {
    const socket = yield* secure(["http/1.1"])
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    const ended = new Promise<void>((resolve) => void socket.once("close", resolve))
    socket.write(bytes)
    yield* Effect.promise(() => ended)
    return Buffer.concat(chunks).toString()
  })
  const over1 = (cookie = "", path = "/") =>
    Effect.map(say(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`), (text) =>
      Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1])
    )
  const over2 = Effect.fnUntraced(function* (cookie = "", path = "/") {
    const socket = yield* secure(["h2"])
    const client = connectHttp2(`https://${host}`, { createConnection: () => socket }).on("error", () => undefined)
    return yield* Effect.promise(
      () =>
        new Promise<number>((resolve, reject) => {
          const stream = client.request({ ":path": path, ...(cookie === "" ? {} : { cookie }) }).on("error", reject)
          stream.on("response", ({ ":status": status = 0 }) => resolve(status)).resume()
        })
    )
  })
  return { kept, clock, say, both: [over1, over2] as const, reached: () => reached, fetched: () => fetched }
})

const test = (name: string, body: Effect.Effect<void, unknown, any>) =>
  it.live(
    name,
    () =>
      body.pipe(Effect.scoped, Effect.provide([NodeFileSystem.layer, AgentMetrics.layer])) as Effect.Effect<
        void,
        unknown
      >
  )

const never = new AccessPolicy({
  expires_at: null,
  schedule: new WeeklySchedule({ tz_offset_minutes: 0, slots: [] })
})
const cookie = `__Host-ct_gate_session=${session}`

describe("an agent that enforces the policy of its tunnel", () => {
  test(
    "answers 503 with the page of a closed window, and asks the origin nothing",
    Effect.gen(function* () {
      const { both, reached, say } = yield* stage(policyOf({ access: never }))
      for (const over of both) assert.strictEqual(yield* over(), 503)
      assert.match(yield* say(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`), /\r\nRetry-After: 3600\r\n/)
      assert.match(yield* say("\0 another protocol\r\n\r\n"), /^HTTP\/1.1 503 /)
      assert.strictEqual(reached(), 0)
    })
  )

  test(
    "lets only HTTP through where the owner says so, and other protocols where not",
    Effect.gen(function* () {
      const open = yield* stage(policyOf({}))
      yield* open.say("\0 another protocol\r\n\r\n")
      assert.strictEqual(open.reached(), 1)
      const { both, reached, say } = yield* stage(policyOf({ options: { ...allOff, http_only: true } }))
      assert.match(yield* say("\0 another protocol\r\n\r\n"), /^HTTP\/1.1 400 /)
      assert.strictEqual(reached(), 0)
      for (const over of both) assert.strictEqual(yield* over(), 200)
    })
  )

  test(
    "sends strangers to sign in, also to the card of the agent, and lets in whom the control plane knows",
    Effect.gen(function* () {
      const { both, reached } = yield* stage(policyOf({ require_login: true }))
      for (const over of both)
        for (const path of ["/", "/.well-known/agent-card.json"]) assert.strictEqual(yield* over("", path), 302, path)
      assert.strictEqual(reached(), 0)
      for (const over of both) assert.strictEqual(yield* over(cookie), 200)
      for (const over of both) assert.strictEqual(yield* over(cookie, "/.well-known/agent-card.json"), 200)
    })
  )

  test(
    "publishes its key and those it knows of other parties to anybody, and does not ask about them for each request",
    Effect.gen(function* () {
      const others = [1, 2].map((byte) => PublicKey.make(`0${byte}`.repeat(32)))
      const { both, fetched, reached, say } = yield* stage(policyOf({ require_login: true, assertion_keys: others }))
      const path = "/.well-known/catenet/jwks.json"
      const [, body = ""] = (yield* say(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).split("\r\n\r\n")
      const own = native.ed25519.publicKey(seed)
      const expected = [own, ...others.map((key) => Buffer.from(key, "hex"))]
      assert.deepStrictEqual(
        JSON.parse(body).keys.map(({ x }: { readonly x: string }) => x),
        expected.map((key) => Buffer.from(key).toString("base64url"))
      )
      for (const over of [...both, ...both]) assert.strictEqual(yield* over("", path), 200)
      assert.strictEqual(fetched(), 1)
      assert.match(yield* say(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`), /^HTTP\/1.1 401 /)
      assert.strictEqual(reached(), 0)
      const open = yield* stage(policyOf({}))
      assert.strictEqual(yield* open.both[0]("", path), 200)
      assert.strictEqual(open.reached(), 1, "without a login the path is the origin's")
    })
  )

  test(
    "closes a gated host whose policy was not confirmed for too long, and only then",
    Effect.gen(function* () {
      const young = yield* stage(policyOf({ require_login: true }), { age: 3_600 })
      const old = yield* stage(policyOf({ require_login: true }), { age: 3_601 })
      const ungated = yield* stage(policyOf({}), { age: 3_601 })
      for (const n of [0, 1] as const) {
        assert.strictEqual(yield* young.both[n](cookie), 200)
        assert.strictEqual(yield* old.both[n](cookie), 503)
        assert.strictEqual(yield* old.both[n](), 503)
        assert.strictEqual(yield* ungated.both[n](), 200)
      }
      assert.strictEqual(old.reached(), 0)
    })
  )

  test(
    "asks visitors of whom the edge says that they have to log in, though the policy is not known or says otherwise",
    Effect.gen(function* () {
      const unknown = yield* stage(undefined, { gated: true })
      const behind = yield* stage(policyOf({}), { gated: true })
      for (const n of [0, 1] as const) {
        assert.strictEqual(yield* unknown.both[n](cookie), 503)
        assert.strictEqual(yield* behind.both[n](), 302)
        assert.strictEqual(yield* behind.both[n](cookie), 200)
      }
      assert.strictEqual(unknown.reached(), 0)
    })
  )
})
