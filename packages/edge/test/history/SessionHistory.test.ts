import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Verification from "@catenet/crypto/receipt/Verification"
import { muxAgent, readAll, servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { eventually, start, temporaryFolder, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { platformProgram } from "@catenet/testing/stack/PlatformProgram"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const T = token("d")
const tunnelHost = "app.zone.test"
const receiptsOn = { CT_EDGE_RECEIPTS: "1" }

const Page = Schema.Struct({
  pubkey: Schema.String,
  edge_id: Schema.String,
  receipts: Schema.Array(Schema.Struct({ seq: Schema.Int, kind: Schema.String, payload: Schema.Any }))
})

const page = async (world: TestEdge, of: string, query = "") => {
  const { status, body } = await world.admin("GET", `/internal/tunnel/receipts/${of}${query}`)
  assert.strictEqual(status, 200)
  return { ...Schema.decodeUnknownSync(Page)(body), raw: body as { receipts: Array<object> } }
}

/** The verdict of the offline verifier on a page. */
const verify = ({ pubkey, edge_id, raw }: Awaited<ReturnType<typeof page>>) => {
  const lines = [{ pubkey, edge_id }, ...raw.receipts].map((line) => `${JSON.stringify(line)}\n`).join("")
  const { header, receipts } = Result.getOrThrow(Export.parse(lines))
  return Verification.verify(native, Result.getOrThrow(Hex.decode(header.pubkey)), receipts)
}

const visit = (world: TestEdge) =>
  Effect.promise(async () => {
    const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost)
    const answer = readAll(visitor)
    visitor.write("\x00ping")
    await answer
    visitor.end()
  })

const gone = (world: TestEdge, of: string) =>
  Effect.promise(() =>
    eventually(async () => {
      const { body } = await world.admin("GET", `/admin/tunnel-status/${of}`)
      return JSON.stringify(body).includes('"connected":false')
    }, "the agent is gone")
  )

describe("the session history of an edge", () => {
  it.live("holds every session, and one verifiable receipt chain for each of two tunnels", () =>
    Effect.gen(function* () {
      const world = yield* start(receiptsOn)
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const other = yield* muxAgent(world)
      yield* Effect.promise(() => other.register(token("e"), []))
      const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
        stream.once("data", () => stream.end("pong!"))
      })
      yield* visit(world)
      const young = yield* Effect.promise(() => world.admin("GET", `/internal/tunnel/history/${T}`))
      assert.deepInclude(young.body as object, { open: true, uptime: { h24: 100, d7: 100, d30: 100 } })
      other.mux.close("normal")
      agent.mux.close("normal")
      yield* gone(world, T)
      const { status, body } = yield* Effect.promise(() => world.admin("GET", `/internal/tunnel/history/${T}`))
      assert.strictEqual(status, 200)
      const { open, sessions } = body as { open: boolean; sessions: Array<object> }
      assert.isFalse(open)
      assert.strictEqual(sessions.length, 1)
      const closed = { reason: "registration-closed", bytes_in: 5, bytes_out: 5 }
      assert.deepInclude(sessions[0], { transport: "tcp-fallback", carrier: "mux", ...closed })
      const chain = yield* Effect.promise(() => page(world, T))
      assert.deepStrictEqual(
        chain.receipts.map(({ kind, seq }) => [seq, kind]),
        [
          [1, "session_open"],
          [2, "session_close"]
        ]
      )
      assert.isTrue(Result.isSuccess(verify(chain)))
      const rest = yield* Effect.promise(() => page(world, T, "?since=1&limit=5"))
      assert.deepStrictEqual(
        rest.receipts.map(({ seq }) => seq),
        [2]
      )
      const key = yield* Effect.promise(() => world.admin("GET", "/internal/receipts/pubkey"))
      assert.deepStrictEqual(key.body, { alg: "ed25519", pubkey: chain.pubkey, edge_id: "primary" })
    }).pipe(Effect.scoped)
  )

  it.live("follows a session from the byte protocol to the multiplexed one and back", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const transport = (expected: string) =>
        Effect.promise(() =>
          eventually(async () => {
            const { body } = await world.admin("GET", `/internal/tunnel/history/${T}`)
            const { sessions } = body as { sessions: Array<{ transport: string; carrier: string }> }
            return sessions.map(({ carrier, transport }) => `${transport} by ${carrier}`).join() === expected
          }, `carried by ${expected}`)
        )
      yield* slotAgent(world, T, "L", tunnelHost)
      yield* transport("tcp-fallback by slots")
      const agent = yield* servingAgent(world, T, [tunnelHost])
      yield* transport("tcp-fallback by mux")
      yield* slotAgent(world, T, "L", tunnelHost)
      agent.mux.close("normal")
      yield* Effect.promise(() =>
        eventually(async () => (await world.metrics())["ct_edge_agent_connections"] === 0, "the mux is gone")
      )
      yield* slotAgent(world, T, "L", tunnelHost)
      yield* transport("tcp-fallback by slots")
    }).pipe(Effect.scoped)
  )

  it.live("holds no routing token", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const world = yield* start(receiptsOn, { folder })
      yield* Effect.promise(() => world.authorize(T, tunnelHost))
      const agent = yield* muxAgent(world)
      yield* Effect.promise(() => agent.register(T, []))
      const db = new DatabaseSync(join(folder, "tunnel-history.sqlite"), { readOnly: true })
      const rows = JSON.stringify([
        ...db.prepare("select * from sessions").all(),
        ...db.prepare("select * from receipts").all()
      ])
      db.close()
      assert.include(rows, "session_open")
      assert.notInclude(rows, T)
    }).pipe(Effect.scoped)
  )

  it.live("continues its chains without a gap or a fork after a kill", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const controlPlane = yield* startControlPlane
      controlPlane.authorizations.push({ token: T, hostname: tunnelHost, tier: "gelb", policy: null })
      const environment = {
        ...process.env,
        CT_EDGE_LISTEN: "127.0.0.1:0",
        CT_EDGE_QUIC: "off",
        CT_EDGE_ADMIN_TOKEN: "ad".repeat(32),
        CT_EDGE_CP_URL: controlPlane.url,
        CT_EDGE_CERT_OUT: join(folder, "edge-cert.der"),
        ...receiptsOn
      }
      for (let life = 0; life < 2; life++) {
        const edge = yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn(process.execPath, [platformProgram, "edge", "--log-format", "json"], { env: environment })
          ),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        let seen = ""
        edge.stderr.on("data", (chunk: Buffer) => (seen += chunk.toString()))
        const port = () => /"mesh":"127\.0\.0\.1:(\d+)"/.exec(seen)?.[1]
        yield* Effect.promise(() =>
          eventually(
            () => port() !== undefined,
            () => `the edge is ready: ${seen}`
          )
        )
        const mesh = Number(port())
        const { readFileSync } = yield* Effect.promise(() => import("node:fs"))
        const { pem } = yield* Effect.promise(() => import("@catenet/crypto/x509/Certificate"))
        const meshRoot = pem(readFileSync(join(folder, "edge-cert.der")))
        const agent = yield* muxAgent({ mesh, meshRoot } as TestEdge)
        assert.isTrue(Result.isSuccess(yield* Effect.promise(() => agent.register(T, []))))
        edge.kill("SIGKILL")
        yield* Effect.promise(() => once(edge, "exit"))
      }
      const world = yield* start(receiptsOn, { folder, controlPlane })
      const chain = yield* Effect.promise(() => page(world, T))
      assert.deepStrictEqual(
        chain.receipts.map(({ kind }) => kind),
        ["session_open", "session_close", "session_open", "session_close"]
      )
      assert.strictEqual(chain.receipts[1]?.payload.reason, "edge-restart")
      assert.isTrue(Result.isSuccess(verify(chain)))
    }).pipe(Effect.scoped)
  )

  it.live("is on disk from the first start, readable by its owner only", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "not", "there", "history.sqlite")
      const world = yield* start({ ...receiptsOn, CT_EDGE_TUNNEL_HISTORY_PATH: path })
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      yield* servingAgent(world, T, [tunnelHost])
      assert.strictEqual((yield* Effect.promise(() => page(world, T))).receipts.length, 1)
      for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    }).pipe(Effect.scoped)
  )

  it.live("issues no receipts when it cannot be on disk", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "history.sqlite")
      writeFileSync(path, "x".repeat(4096))
      const refused = yield* Effect.flip(start({ ...receiptsOn, CT_EDGE_TUNNEL_HISTORY_PATH: path }))
      assert.match(refused.message, /^CT_EDGE_RECEIPTS is on, but the database .* cannot be opened; set /)
      yield* start({ CT_EDGE_TUNNEL_HISTORY_PATH: path })
    }).pipe(Effect.scoped)
  )

  it.live("waits for a locked database, while agents and visitors are served", () =>
    Effect.gen(function* () {
      const world = yield* start({
        ...receiptsOn,
        CT_EDGE_AUDIT_LOG_PATH: join(yield* temporaryFolder, "audit.sqlite")
      })
      yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
      const other = new DatabaseSync(join(world.folder, "tunnel-history.sqlite"))
      other.exec("begin immediate")
      for (let round = 0; round < 2; round++) {
        const agent = yield* servingAgent(world, T, [tunnelHost], (stream) => {
          stream.once("data", () => stream.end("pong!"))
        })
        yield* visit(world)
        agent.mux.close("normal")
        yield* gone(world, T)
      }
      assert.deepStrictEqual((yield* Effect.promise(() => page(world, T))).receipts, [])
      other.exec("commit")
      other.close()
      const written = yield* Effect.promise(async () => {
        await eventually(async () => (await page(world, T)).receipts.length === 4, "the session history is complete")
        return page(world, T)
      })
      assert.deepStrictEqual(
        written.receipts.map(({ kind, payload }) => [kind, payload.bytes_in, payload.bytes_out]),
        [
          ["session_open", undefined, undefined],
          ["session_close", 5, 5],
          ["session_open", undefined, undefined],
          ["session_close", 5, 5]
        ]
      )
      assert.isTrue(Result.isSuccess(verify(written)))
    }).pipe(Effect.scoped)
  )

  it.live("can be switched off", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_TUNNEL_HISTORY: "off" })
      for (const path of [
        `/internal/tunnel/history/${T}`,
        `/internal/tunnel/receipts/${T}`,
        "/internal/receipts/pubkey"
      ]) {
        assert.strictEqual((yield* Effect.promise(() => world.admin("GET", path))).status, 404)
      }
    }).pipe(Effect.scoped)
  )
})
