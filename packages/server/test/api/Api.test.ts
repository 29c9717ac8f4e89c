/** Runs every example of the API guide, in its order, against a control plane. */
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const guide = readFileSync(join(import.meta.dirname, "../../../../docs/api.md"), "utf8")
const examples = Array.from(guide.matchAll(/```sh\n([\s\S]*?)```/g), ([, text]) => text)

const server = Layer.unwrap(Effect.map(TestIssuer, ({ issuer }) => TestServer.layer({ CT_OIDC_ISSUER: issuer }))).pipe(
  Layer.provideMerge(TestIssuer.layer)
)

const run = (script: string, env: Record<string, string>, folder: string) =>
  Effect.callback<{ readonly code: number; readonly output: string }>((resume) => {
    const options = { cwd: folder, env: { ...process.env, ...env }, timeout: 120_000 }
    execFile("bash", ["-euo", "pipefail", "-c", script], options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : 1, output: stdout + stderr }))
    )
  })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the API guide", (it) => {
  it.effect("has only examples that work", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "catenet-guide-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      const env = {
        CP: yield* TestServer.baseUrl,
        TOKEN: yield* Accounts.bearerOf("reader"),
        ADMIN: TestServer.adminToken
      }
      assert.isAbove(examples.length, 4)
      const { code, output } = yield* run(examples.join("\n"), env, folder)
      assert.strictEqual(code, 0, output)
      assert.match(output, /"join_token":"[0-9a-f]{64}"/)
    }).pipe(Effect.scoped)
  )
})
