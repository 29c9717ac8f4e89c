import { until, untilSuccess } from "@catenet/testing/Eventually"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { controlPlane } from "@catenet/testing/server/faults/Program"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { adminToken } from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { type ChildProcess, spawn } from "node:child_process"
import { freePort } from "../../../stack/src/Ports.ts"
import { account, agreed, rows, server, settings } from "./RealmServer.ts"
import { type Call, TestRealm } from "./TestRealm.ts"

/** The program as a process of its own; it sweeps so seldom that somebody else has to. */
const victim = Effect.gen(function* () {
  const { url } = yield* TestDatabase
  const port = yield* freePort("127.0.0.1")
  const process_ = yield* Effect.acquireRelease(
    Effect.map(settings, (variables) =>
      spawn(process.execPath, [...controlPlane], {
        stdio: "ignore",
        env: {
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
          ...variables,
          CT_CP_SERVICE_ACCOUNT_TICK_SECS: "3600",
          CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
          CT_CP_DATABASE_URL: Redacted.value(url),
          CT_CP_SEAL_KEY: "5e".repeat(32),
          CT_CP_EDGE_ADMIN_TOKEN: adminToken
        }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const here = yield* HttpServer.HttpServer
  const there = Effect.provideService(HttpServer.HttpServer, {
    ...here,
    address: { ...here.address, port } as typeof here.address
  })
  yield* untilSuccess(
    Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/healthz`)),
    "120 seconds"
  )
  yield* there(bearerOf("anonymous"))
  return { process: process_, there }
})

const killed = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

const steps: ReadonlyArray<{ readonly method: string; readonly path: RegExp; readonly states: ReadonlyArray<string> }> =
  [
    { method: "POST", path: /\/clients$/, states: ["active", "pending"] },
    { method: "GET", path: /\/client-secret$/, states: ["active", "pending"] },
    { method: "DELETE", path: /./, states: ["releasing"] }
  ]

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("service accounts", (it) => {
  for (const { method, path, states } of steps) {
    it.effect(`leave nothing behind when the program is killed while it waits for ${method} ${path.source}`, () =>
      Effect.gen(function* () {
        const { calls, decide } = yield* TestRealm
        const { process: child, there } = yield* victim
        const mine = yield* account("ada")
        const { client_id: id } = (yield* mine.create("kept")).body
        const isIt = (call: Call) => call.method === method && path.test(call.path)
        const seen = calls.length
        decide((call) => (isIt(call) ? "hang" : "pass"))
        yield* Effect.forkScoped(Effect.ignoreCause(there(method === "DELETE" ? mine.remove(id) : mine.create("lost"))))
        yield* until(
          Effect.sync(() => calls.slice(seen).some(isIt)),
          (reached) => reached
        )
        yield* killed(child)
        assert.deepStrictEqual((yield* rows).map(({ state }) => state).sort(), states)
        decide(() => "pass")
        const left = method === "DELETE" ? 0 : 1
        assert.strictEqual(yield* agreed, left)
        if (left === 1) assert.strictEqual((yield* mine.remove(id)).status, 204)
      })
    )
  }
})
