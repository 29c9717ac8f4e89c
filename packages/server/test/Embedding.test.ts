/** The control plane as a part of another program: its router, its database client and its accounts. */
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { Authentication, Server, Settings, Tunnels } from "../src/ControlPlane.ts"

const settings = Settings.layerOf({
  databaseUrl: Redacted.make("postgres://unused.invalid/"),
  sealKeys: [Redacted.make(new Uint8Array(32).fill(0x5e))],
  portalBaseUrl: new URL("https://portal.host.test"),
  hostnameZone: "host.test"
})

/** The host's accounts: a header names the user. */
const accounts = Authentication.layer((request) =>
  Effect.succeed(
    Option.map(Option.fromUndefinedOr(request.headers["x-user"]), (user) => ({
      subject: user,
      email: "ada@host.test",
      means: "bearer" as const
    }))
  )
)

const hello = HttpRouter.add("GET", "/hello", HttpServerResponse.text("of the host"))

const clientWith = (options: Partial<typeof Server.databaseOptions>) =>
  Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url, maxConnections: 4, ...options })))

const host = HttpRouter.serve(Layer.mergeAll(hello, Server.routesWith(accounts))).pipe(
  Layer.provide([settings, clientWith(Server.databaseOptions)]),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(TestDatabase.layer)
)

const call = (path: string, init: RequestInit = {}) =>
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${"port" in address ? address.port : 0}${path}`, init)
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  )

layer(host)("a host program with the control plane's routes", (it) => {
  it.effect("keeps its own routes, and the headers of the control plane stay off them", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* call("/hello")
      assert.deepStrictEqual([status, text, headers.get("x-request-id")], [200, "of the host", null])
      assert.strictEqual((yield* call("/nothing-here")).status, 404)
      assert.strictEqual((yield* call("/")).status, 404)
    })
  )

  it.effect("answers for its own accounts, and 401 with a problem for strangers", () =>
    Effect.gen(function* () {
      const made = yield* call("/me/tunnels", {
        method: "POST",
        headers: { "x-user": "ada", "content-type": "application/json" },
        body: JSON.stringify({ name: "shop" })
      })
      assert.strictEqual(made.status, 200, made.text)
      assert.include(made.text, ".host.test")
      assert.include((yield* call("/me/tunnels", { headers: { "x-user": "ada" } })).text, "shop")
      assert.strictEqual((yield* call("/me/tunnels", { headers: { "x-user": "eve" } })).text, "[]")
      const stranger = yield* call("/me/tunnels")
      assert.strictEqual(stranger.status, 401)
      assert.strictEqual(stranger.headers.get("content-type"), "application/problem+json")
    })
  )

  it.effect("gives each response of the control plane its id and the security headers", () =>
    Effect.gen(function* () {
      const { headers, status } = yield* call("/status", { headers: { "x-request-id": "host-request-7" } })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("x-request-id"), "host-request-7")
      assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
      assert.isNotNull(headers.get("strict-transport-security"))
    })
  )

  it.effect("answers 405 and 404 below the control plane's prefixes with its problems", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("/status", { method: "DELETE" })).status, 405)
      const missing = yield* call("/me/nothing")
      assert.strictEqual(missing.status, 404)
      assert.include(missing.text, '"status":404')
    })
  )
})

describe("a host's PgClient", () => {
  it.effect("without the control plane's options is refused with a sentence that names them", () =>
    Effect.gen(function* () {
      const wrong = Layer.provide(Server.routesWith(accounts), [settings, clientWith({}), HttpRouter.layer])
      const error = yield* Effect.flip(Effect.scoped(Layer.build(wrong)))
      assert.include(String(error), "Server.databaseOptions")
    }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.effect("lets a program use a service without HTTP", () =>
    Effect.gen(function* () {
      assert.isFunction((yield* Tunnels).create)
    }).pipe(
      Effect.provide(Server.services.pipe(Layer.provide([settings, clientWith(Server.databaseOptions)]))),
      Effect.provide(TestDatabase.layer)
    )
  )
})
