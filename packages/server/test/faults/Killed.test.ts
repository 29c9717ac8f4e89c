/**
 * A replica that is killed in the middle of its work, again and again, while a client goes on asking with its keys: what
 * was asked for is there once, what the edge had to learn it has learnt, and nothing is left undelivered.
 */
import * as Proof from "@catenet/crypto/Enrolment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { bytesOf } from "../../src/Secrets.ts"
import { database } from "../harness/Accounts.ts"
import { RecordingEdge } from "../harness/RecordingEdge.ts"
import { TestDatabase } from "../harness/TestDatabase.ts"

const main = join(import.meta.dirname, "../../src/main.ts")
const adminToken = "ad".repeat(32)
const seed = Redacted.make(new Uint8Array(32).fill(3))
const pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))
const tunnels = 12
const kills = 3

const world = Layer.merge(TestDatabase.layer, RecordingEdge.layer)

/** A real process on a port that it keeps over its deaths. */
const replica = (port: number) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const edge = yield* RecordingEdge
    const env = {
      ...process.env,
      CT_CP_DATABASE_URL: Redacted.value(url),
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
      CT_CP_EDGE_ADMIN_TOKEN: adminToken,
      CT_CP_EDGE_ADMIN_URL: edge.url,
      CT_CP_OUTBOX_TICK_SECS: "1"
    }
    let child: ChildProcess | undefined
    const start = Effect.sync(() => void (child = spawn(process.execPath, [main], { env, stdio: "ignore" })))
    const kill = Effect.callback<void>((resume) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
      child.once("exit", () => resume(Effect.void))
      child.kill("SIGKILL")
    })
    yield* Effect.acquireRelease(start, () => kill)
    return { kill, start }
  })

const post = (port: number, path: string, body: unknown, key?: string) =>
  Effect.tryPromise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-ct-admin-token": adminToken,
        ...(key === undefined ? {} : { "idempotency-key": key })
      },
      body: JSON.stringify(body)
    })
    if (response.status >= 500) throw new Error(`${response.status}`)
    return { status: response.status, answer: (await response.json()) as any }
  }).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.timeout("30 seconds"))

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("a killed replica", (it) => {
  it.effect(
    "loses nothing and does nothing twice",
    () =>
      Effect.gen(function* () {
        const port = 20_000 + (process.pid % 20_000)
        const server = yield* replica(port)
        yield* post(port, "/enroll/issue", { tenant: "warm" })
        yield* Effect.gen(function* () {
          for (let n = 0; n < kills; n++) {
            yield* Effect.sleep(`${150 + 170 * n} millis`)
            yield* server.kill
            yield* server.start
            yield* post(port, "/enroll/issue", { tenant: "warm" })
          }
        }).pipe(Effect.forkChild)

        const made = yield* Effect.forEach(
          Array.from({ length: tunnels }, (_, n) => n),
          (n) =>
            Effect.gen(function* () {
              const body = { subject: "s", name: `n${n}`, hostname: `h${n}.example.test` }
              const { answer } = yield* post(port, "/admin/provision-tunnel", body, `tunnel ${n}`)
              const issued = yield* post(port, "/enroll/issue", { tenant: `t${n}` }, `token ${n}`)
              const token: string = issued.answer.token
              const proof = Hex.encode(Proof.prove(native, seed, Redacted.make(bytesOf(token))))
              const redeemed = yield* post(port, "/enroll/redeem", { token, agent: `a${n}`, pubkey, proof })
              assert.include([200, 409], redeemed.status)
              const again = yield* post(port, "/enroll/redeem", { token, agent: "thief", pubkey, proof })
              assert.strictEqual(again.status, 409)
              return answer.routing_token as string
            }),
          { concurrency: 3 }
        )

        const edge = yield* RecordingEdge
        for (const token of made) {
          const [order] = yield* edge.about(token, 1)
          assert.include(order?.path ?? "", "channel_tier=gelb")
        }
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const rows = yield* sql`select name from tunnels where name like 'n%'`
          assert.strictEqual(rows.length, tunnels)
          const agents = yield* sql<{ agent: string }>`select agent from agents order by agent`
          assert.deepStrictEqual(
            agents.map(({ agent }) => agent),
            Array.from({ length: tunnels }, (_, n) => `a${n}`).sort()
          )
          yield* sql`select id from outbox where refused_at is null`.pipe(
            Effect.repeat({ until: (left) => left.length === 0, schedule: Schedule.spaced("100 millis") }),
            Effect.timeout("20 seconds")
          )
        }).pipe(Effect.provide(database))
      }).pipe(Effect.scoped),
    60_000
  )
})
