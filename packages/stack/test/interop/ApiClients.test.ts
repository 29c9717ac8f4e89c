/** What other people's tools make of the API descriptions: Spectral's rules, and generated clients that talk to a server. */
import { AgentLocalApi } from "@catenet/domain/api/AgentLocalApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { textOf } from "@catenet/domain/api/DescribedApi"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll } from "vitest"
import { installOpenApiTools } from "../../../../scripts/install.mjs"
import { skipped } from "./GoPrograms.ts"

const root = join(import.meta.dirname, "../../../..")
const tools = join(root, "tools/openapi")
const tool = (...path: ReadonlyArray<string>) => join(tools, "node_modules", ...path)
const folder = mkdtempSync(join(tmpdir(), "catenet-clients-"))
const documents = {
  "openapi.json": OpenApi.fromApi(ControlPlaneApi),
  "openapi.edge.json": OpenApi.fromApi(EdgeAdminApi),
  "openapi.agent.json": OpenApi.fromApi(AgentLocalApi)
}
const run = promisify(execFile)

const fetcher = "openapi-fetch"

/** Written as a user would, with the names of the document; the compiler refuses what the document does not have. */
const typescript = `
import createClient from "${fetcher}"
import type { paths } from "./api.ts"

const [baseUrl = "", token = ""] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: "Bearer " + token } })
const { data: made, error } = await client.POST("/me/tunnels", {
  params: { header: { "idempotency-key": "once" } },
  body: { name: "generated" }
})
if (made === undefined) throw new Error(error.detail)
const { data: listed, response } = await client.GET("/me/tunnels", { params: { query: { limit: 1 } } })
const refused = await client.GET("/me/tunnels/{id}", { params: { path: { id: "0".repeat(32) } } })
// @ts-expect-error a limit is a number
void (() => client.GET("/me/tunnels", { params: { query: { limit: "many" } } }))
console.log(JSON.stringify([listed?.[0]?.id === made.id, response.status, refused.error?.code]))
`

const python = `
import sys
from catenet_control_plane_client import AuthenticatedClient
from catenet_control_plane_client.api.tunnels import tunnels_create, tunnels_list
from catenet_control_plane_client.models import TunnelsCreateBody

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
made = tunnels_create.sync(client=client, body=TunnelsCreateBody(name="from python"))
listed = tunnels_list.sync(client=client, limit=1000)
print(made.name, made.id in [each.id for each in listed])
`

beforeAll(() => {
  installOpenApiTools()
  for (const [file, document] of Object.entries(documents)) writeFileSync(join(folder, file), textOf(document))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const where = spawnSync("sh", ["-c", "command -v openapi-python-client"])
const generator = where.status === 0 ? String(where.stdout).trim() : undefined
if (generator === undefined) skipped("a Python client", "there is no `openapi-python-client` on PATH")

layer(Accounts.server(), { excludeTestServices: true, timeout: "120 seconds" })("the API descriptions", (it) => {
  it.effect("break no rule of Spectral's for OpenAPI", () =>
    Effect.promise(async () => {
      const { stdout } = await run(process.execPath, [join(tools, "lint.mjs"), ...Object.keys(documents)], {
        cwd: folder
      })
      assert.strictEqual(stdout, "")
    })
  )

  it.effect("give a client in TypeScript that compiles and is answered", () =>
    Effect.gen(function* () {
      const token = yield* Accounts.bearerOf("typescript")
      const url = yield* TestServer.baseUrl
      const { stdout } = yield* Effect.promise(async () => {
        const generated = [tool("openapi-typescript", "bin", "cli.js"), "openapi.json", "-o", "api.ts"]
        await run(process.execPath, generated, { cwd: folder })
        symlinkSync(tool(), join(folder, "node_modules"))
        writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
        writeFileSync(join(folder, "client.ts"), typescript)
        const types = join(root, "node_modules/@types")
        const strict = [
          "--strict",
          "--noEmit",
          "--module",
          "nodenext",
          "--target",
          "esnext",
          "--allowImportingTsExtensions"
        ]
        const compiler = [
          join(root, "node_modules/typescript/bin/tsc"),
          ...strict,
          "--typeRoots",
          types,
          "--types",
          "node",
          "client.ts"
        ]
        await run(process.execPath, compiler, { cwd: folder }).catch((error: { stdout: string }) =>
          assert.fail(error.stdout)
        )
        return run(process.execPath, ["client.ts", url, token], { cwd: folder })
      })
      assert.deepStrictEqual(JSON.parse(stdout), [true, 200, "TunnelNotFound"])
    })
  )

  it.effect.skipIf(generator === undefined)("give a client in Python that is answered", () =>
    Effect.gen(function* () {
      const token = yield* Accounts.bearerOf("python")
      const url = yield* TestServer.baseUrl
      const said = yield* Effect.promise(async () => {
        execFileSync(generator ?? "", ["generate", "--path", "openapi.json", "--meta", "none"], {
          cwd: folder,
          stdio: "pipe"
        })
        writeFileSync(join(folder, "client.py"), python)
        const { stdout } = await run(join(dirname(generator ?? ""), "python3"), ["client.py", url, token], {
          cwd: folder
        })
        return stdout
      })
      assert.strictEqual(said, "from python True\n")
    })
  )
})
