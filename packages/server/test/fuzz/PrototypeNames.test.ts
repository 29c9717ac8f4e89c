/**
 * Names that every object answers to, as members of a body, fields of a form, names in a query, of headers and of cookies,
 * at every route: none is a fault, and what is done is what would be done without them.
 */
import { prototypeNames } from "@catenet/testing/edge/fuzz/PrototypeNames"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { routes } from "./Document.ts"

const form = new URLSearchParams(prototypeNames.map((name) => [name, name])).toString()
const json = `{${prototypeNames.map((name) => `"${name}":{"${name}":1}`).join()}}`
const cookies = prototypeNames.map((name) => `${name}=x`).join("; ")

/** Forms of the portal, which the document does not describe. */
const forms = [
  "/portal/tunnels/:id/alert",
  "/portal/tunnels/:id/access",
  "/portal/tunnels/:id/share-links",
  "/portal/tunnels/:id/agent-bridge/grant",
  "/portal/tunnels/:id/agent-bridge/call"
].map((path) => ({ method: "POST", path: path.replace(":id", "a".repeat(64)) }))

const statusOf = (
  base: string,
  method: string,
  path: string,
  type: string,
  session: ReadonlyArray<string>,
  body: string
) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve, reject) => {
        const named = prototypeNames.flatMap((name) => [name, "x"])
        const headers = ["host", new URL(base).host, "content-type", type, ...session, ...named]
        const length = ["content-length", String(Buffer.byteLength(body))]
        request(base + path, { method, headers: [...headers, ...length] }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode ?? 0))
        })
          .on("error", reject)
          .end(body)
      })
  )

layer(Accounts.server({ CT_CP_HOSTNAME_ZONE: "zone.example" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a name that every object answers to",
  (it) => {
    it.effect("causes no internal error at any route", () =>
      Effect.gen(function* () {
        const base = yield* TestServer.baseUrl
        const session = yield* Accounts.sessionOf("ada", "ada@a.test")
        const bearer = ["authorization", `Bearer ${yield* Accounts.bearerOf("ada")}`]
        const cookie = ["cookie", `${cookies}; __Host-ct_portal_session=${session}`, "origin", base]
        const admin = ["x-ct-admin-token", TestServer.adminToken, "cookie", cookies]
        const faults: Array<string> = []
        for (const { method, path } of [...routes, ...forms]) {
          for (const name of ["constructor", "__proto__"]) {
            const filled = `${path.replaceAll(/\{[^}]+\}/g, name)}?${form}`
            for (const [caller, headers] of Object.entries({ bearer, cookie, admin })) {
              const isForm = path.startsWith("/portal/")
              const type = isForm ? "application/x-www-form-urlencoded" : "application/json"
              const body = method === "GET" ? "" : isForm ? form : json
              const status = yield* statusOf(base, method, filled, type, headers, body)
              if (status >= 500 && ![502, 503].includes(status)) faults.push(`${status} ${method} ${filled} ${caller}`)
            }
          }
        }
        assert.deepStrictEqual(faults, [], LoggedErrors.said())
      })
    )
  }
)
