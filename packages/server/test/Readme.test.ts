/** The example of the README, run as a program of its own against the database. */
import * as Program from "@catenet/testing/server/faults/Program"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const cache = join(root, "../../node_modules/.cache")
const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? []

/** A folder from which the packages are found by name. */
const folder = Effect.acquireRelease(
  Effect.sync(() => {
    mkdirSync(cache, { recursive: true })
    return mkdtempSync(join(cache, "server-example-"))
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("the example of the README", (it) => {
  it.effect("serves the control plane with the settings of its environment", () =>
    Effect.gen(function* () {
      const { serverUrl } = yield* TestDatabase
      const file = join(yield* folder, "example.mjs")
      writeFileSync(file, example)
      const port = yield* Program.freePort
      const { url } = yield* Program.start({
        name: "the example",
        port,
        main: [file],
        health: "/healthz",
        env: {
          CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
          CT_CP_DATABASE_URL: Redacted.value(serverUrl),
          CT_CP_SEAL_KEY: TestServer.sealKey
        }
      })
      const response = yield* Effect.promise(() => fetch(`${url}/status`))
      assert.strictEqual(response.status, 200)
      assert.isTrue(((yield* Effect.promise(() => response.json())) as { readonly ready: boolean }).ready)
    })
  )
})
