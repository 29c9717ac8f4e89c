/** A tunnel, or a topology, whose removal commits between the look at it and the row about it that a request writes. */
import { database } from "@catenet/testing/server/Accounts"
import { account, type Answer, ask } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { blocked } from "../harness/Blocked.ts"
import { server, tunnel } from "./records/FactsServer.ts"

const ada = account("ada")
const bridgeKeys = { CT_BRIDGE_HOLDER_KEY: "11".repeat(32), CT_BRIDGE_NOISE_KEY: "22".repeat(32) }
const channel = idOf("hall")

/** Sends a request while a removal is made and not committed, and answers what it got after the commit. */
const whileRemoving = <A, E, R>(table: "tunnels" | "topologies", id: string, request: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const asked = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`delete from ${sql(table)} where id = ${id}`
        const sent = yield* Effect.forkChild(request)
        yield* blocked
        return sent
      })
    )
    return yield* Fiber.join(asked)
  })

const isRefused = ({ code, status }: Answer, expected: string) =>
  assert.strictEqual(`${status} ${code}`, expected, LoggedErrors.said())

const tunnelWrites: ReadonlyArray<readonly [path: string, method: string, body: unknown]> = [
  ["/grants", "POST", { grantee: "bob" }],
  ["/login-allowlist", "POST", { email: "bob@people.example" }],
  ["/alert", "PUT", { webhook_url: "https://hooks.example/a", threshold_minutes: 5 }],
  ["/access", "PUT", { expires_at: 4_000_000_000, schedule: null }],
  ["/http-only", "PUT", { http_only: true }],
  ["/badge", "POST", {}],
  ["/share-links", "POST", { ttl: "1h" }],
  ["/agent-bridge", "PUT", { mode: "ephemeral" }],
  ["", "PATCH", { require_login: false }],
  ["/rotate-token", "POST", {}]
]

const topologyWrites: ReadonlyArray<readonly [path: string, body: unknown, refusal: string]> = [
  ["/agents", { agent: keyOf("agent") }, "404 TopologyNotFound"],
  ["/edges", { a: keyOf("agent"), b: keyOf("guest") }, "409 EdgeRefused"],
  ["/share", { email: "bob@people.example" }, "404 TopologyNotFound"]
]

layer(Layer.provideMerge(database, server(bridgeKeys)), { excludeTestServices: true, timeout: "60 seconds" })(
  "what is removed meanwhile",
  (it) => {
    let made = 0
    const fresh = Effect.suspend(() => tunnel("ada", "cam", `cam${made++}.zone.example`, true))

    for (const [path, method, body] of tunnelWrites)
      it.effect(`is not found by ${method} /me/tunnels/:id${path}`, () =>
        Effect.gen(function* () {
          const { id } = yield* fresh
          const request = ask(ada, `/me/tunnels/${id}${path}`, body, { method })
          isRefused(yield* whileRemoving("tunnels", id, request), "404 TunnelNotFound")
        })
      )

    it.effect("is not found by a grant for its bridge", () =>
      Effect.gen(function* () {
        const { id } = yield* fresh
        yield* ask(ada, "/me/channels", { channel, operator_pubkey: keyOf("operator") })
        const { body } = yield* ask(ada, `/me/tunnels/${id}/agent-bridge`)
        const grant = grantBy("operator", channel, "member")
        const grant_hex = `${grant.slice(0, 192)}${String(body["bridge_holder"])}${grant.slice(256)}`
        const request = ask(ada, `/me/tunnels/${id}/agent-bridge/grant`, { channel_id: channel, grant_hex })
        isRefused(yield* whileRemoving("tunnels", id, request), "404 TunnelNotFound")
      })
    )

    for (const [path, body, refusal] of topologyWrites)
      it.effect(`is not found by POST /me/topologies/:id${path}`, () =>
        Effect.gen(function* () {
          const { body: topology } = yield* ask(ada, "/me/topologies", undefined, { method: "POST" })
          const id = String(topology["id"])
          const request = ask(ada, `/me/topologies/${id}${path}`, body)
          isRefused(yield* whileRemoving("topologies", id, request), refusal)
        })
      )

    it.effect("leaves a visitor's request for access without a trace, answered as any other", () =>
      Effect.gen(function* () {
        const { id } = yield* fresh
        const host = `cam${made - 1}.zone.example`
        const form = new URLSearchParams({ host, email: "vera@people.example", note: "" }).toString()
        const request = TestServer.raw("/gate/request-access", {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: form
        })
        const answer = yield* whileRemoving("tunnels", id, request)
        assert.strictEqual(answer.status, 200, LoggedErrors.said())
        assert.include(yield* Effect.promise(() => answer.text()), "has been asked")
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`select email from tunnel_access_requests where tunnel_id = ${id}`, [])
      })
    )
  }
)
