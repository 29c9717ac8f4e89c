import * as Accounts from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { App } from "../../src/App.ts"
import { prefixes } from "../../src/Server.ts"
import { routes } from "../fuzz/Document.ts"

/** What the document says of each address. */
const documented = new Set(routes.map(({ path }) => path))
const isAt = (path: string, address: string) =>
  new RegExp(`^${path.replaceAll(/\{[^}]+\}/gu, "[^/]+")}$`, "u").test(address)
const beside = new Set(["HEAD", "OPTIONS"])
const methodsIn = (response: Response) => (response.headers.get("allow") ?? "").split(", ")

layer(Accounts.server(), { excludeTestServices: true, timeout: "60 seconds" })("methods of an address", (it) => {
  it.effect("are those of the document, by OPTIONS and by the Allow of a refusal", () =>
    Effect.gen(function* () {
      for (const path of documented) {
        const address = path.replaceAll(/\{[^}]+\}/gu, "0".repeat(32))
        const said = yield* TestServer.raw(address, { method: "OPTIONS" })
        assert.strictEqual(said.status, 204, path)
        // An address such as `shared` is also an id of another route.
        const methods = routes.filter(({ path: pattern }) => isAt(pattern, address)).map(({ method }) => method)
        for (const method of methods) assert.include(methodsIn(said), method, path)
        const other = ["PUT", "DELETE", "POST"].find((method) => !methodsIn(said).includes(method))
        if (other === undefined) continue
        const refused = yield* TestServer.raw(address, { method: other })
        assert.deepStrictEqual([refused.status, methodsIn(refused)], [405, methodsIn(said)], `${other} ${path}`)
        // Below the portal there are pages beside the API.
        if (path.startsWith("/portal/")) continue
        assert.strictEqual(methodsIn(said).includes("HEAD"), methods.includes("GET"), path)
        const more = methodsIn(said).filter((method) => !methods.includes(method) && !beside.has(method))
        assert.deepStrictEqual(more, [], path)
      }
      const nothing = yield* TestServer.raw("/nothing-there", { method: "OPTIONS" })
      assert.strictEqual(nothing.status, 404)
    })
  )

  it.effect("a host's router gives the control plane every first segment that it has a route for", () =>
    Effect.gen(function* () {
      const served = yield* App
      const segments = new Set(served.routes.map(([, path]) => path.split("/")[1] ?? ""))
      assert.sameMembers([...prefixes, ""], [...segments])
    })
  )
})
