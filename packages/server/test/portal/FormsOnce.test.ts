/** A form that is sent twice, by a second click or a reload, counts once and is answered alike. */
import { database } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import * as FormDeduplication from "../../src/http/FormDeduplication.ts"
import { Idempotency } from "../../src/http/Idempotency.ts"
import * as Addresses from "../../src/portal/Addresses.ts"
import { settings } from "../identity/RealmServer.ts"
import { TestRealm } from "../identity/TestRealm.ts"
import { personAt, tokenOf } from "./PersonAtForms.ts"

const zone = {
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_CP_ALERTS_LOOPBACK: "1"
}
const variables = Effect.map(settings, (realm) => ({ ...realm, ...zone }))
const server = Layer.unwrap(Effect.map(variables, TestServer.layer)).pipe(
  Layer.provideMerge(Layer.merge(TestIssuer.layer, TestRealm.layer))
)
const kim = person("once-kim")
const webhook_url = "http://127.0.0.1:1/hook"

/** Forms that make nothing, or nothing beside what is there: what is in the database after two is what is after one. */
const repeatable: ReadonlyArray<string> = [
  "/portal/tunnels/bulk",
  ...[
    "rename",
    "delete",
    "require-login",
    "allow-any-login",
    "unproved-agents",
    "options/:option",
    "login-allowlist/:email/remove",
    "access-requests/:email/dismiss",
    "grants/:grantee/delete",
    "reclaim-cert-slot",
    "cert-claim-opt-out",
    "hostname",
    "hostname/remove",
    "verify-hostname",
    "badge/disable",
    "alert/delete",
    "access",
    "access/clear",
    "share-links/:link_id/revoke",
    "agent-bridge",
    "agent-bridge/grant",
    "agent-bridge/call",
    "agent-bridge/manifest/install"
  ].map((part) => `/portal/tunnels/:id/${part}`),
  ...[
    "notice-mail",
    "delete",
    "applications/end",
    "sessions/end-others",
    "sessions/:id/end",
    "service-accounts/:client_id/delete"
  ].map((part) => `/portal/account/${part}`),
  ...["label", "rekey", "deregister", "members/:holder/remove", "allowlist/:email/remove", "claim-form"].map(
    (part) => `/portal/channels/:channel/${part}`
  ),
  ...[
    "name",
    "remove",
    "note",
    "import",
    "unassign",
    "label",
    "mode",
    "suggest",
    "apply",
    "unshare",
    "bind",
    "unbind",
    "delete"
  ].map((part) => `/portal/topologies/:id/${part}`)
]
/** Forms that make something and have a test of their own, here and in `Strangers.test.ts`. */
const elsewhere = ["/portal/account/service-accounts/:client_id/rotate", "/portal/claim/confirm"]

const count = (table: string, where = "true") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql.unsafe<{ n: string }>(`select count(*)::text n from ${table} where ${where}`), ([row]) =>
      Number(row?.n)
    )
  )

const furnished = Effect.gen(function* () {
  const tunnel = String((yield* ask(kim, "/me/tunnels", { name: "shared" })).body["id"])
  yield* ask(kim, `/me/tunnels/${tunnel}`, { require_login: true }, { method: "PATCH" })
  const channel = idOf("once")
  yield* ask(account("once-kim"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
  const topology = String((yield* ask(kim, "/me/topologies", {})).body["id"])
  for (const agent of ["t1", "t2"]) yield* ask(kim, `/me/topologies/${topology}/agents`, { agent: keyOf(agent) })
  return { tunnel, channel, topology }
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a form that is sent twice", (it) => {
  it.effect("at once, over two connections and at two replicas, creates one thing and shows the same", () =>
    Effect.gen(function* () {
      const { channel, topology, tunnel } = yield* furnished
      const { get, post } = yield* personAt(kim)
      const replica = yield* Layer.build(TestServer.replica(yield* variables))
      const there = Effect.provideService(HttpServer.HttpServer, Context.get(replica, HttpServer.HttpServer))
      const own = `/portal/tunnels/${tunnel}`
      const hall = `/portal/channels/${channel}`
      const editor = `/me/topologies/${topology}/editor`
      const drawn = `/portal/topologies/${topology}`
      const room = { operator_pubkey: keyOf("room"), holders: `${keyOf("r1")} ${keyOf("r2")}` }
      const deposit = { holder: materialOf(channel, "m").holder, grant: grantBy("op", channel, "m") }
      const rows: ReadonlyArray<
        readonly [page: string, action: string, form: Readonly<Record<string, string>>, status: number, table: string]
      > = [
        ["/portal/tunnels", "/portal/tunnels", { name: "twice" }, 303, "tunnels"],
        [`${own}?tab=access`, `${own}/share-links`, { ttl: "1h" }, 200, "share_links"],
        [`${own}?tab=agents`, `${own}/install`, { port: "80" }, 200, "bootstrap_tokens"],
        [`${own}?tab=settings`, `${own}/alert`, { webhook_url, threshold_minutes: "5" }, 200, "alerts"],
        [`${own}?tab=settings`, `${own}/alert/test`, {}, 200, "alert_deliveries"],
        [`${own}/uptime`, `${own}/badge/enable`, {}, 303, "badges"],
        [`${own}?tab=access`, `${own}/login-allowlist`, { email: "a@b.example" }, 303, "tunnel_visitors"],
        [`${own}/grants`, `${own}/grants`, { grantee: "somebody" }, 303, "tunnel_grants"],
        [`${own}/rotate-token`, `${own}/rotate-token`, {}, 303, "revoked_tokens"],
        ["/portal/account?tab=credits", "/portal/account/credits", { credits: "5" }, 200, "payment_intents"],
        [
          "/portal/account?tab=service-accounts",
          "/portal/account/service-accounts",
          { name: "ci" },
          200,
          "service_accounts"
        ],
        ["/portal/channels?new=channel", "/portal/channels", { operator_pubkey: keyOf("other") }, 303, "channels"],
        ["/portal/channels?new=room", "/portal/rooms", room, 303, "room_pairs"],
        [`${hall}?tab=settings`, `${hall}/members`, materialOf(channel, "m"), 303, "channel_members"],
        [`${hall}?tab=invitations`, `${hall}/allowlist`, { email: "a@b.example" }, 303, "channel_allowlist"],
        [
          `${hall}?tab=invitations`,
          `${hall}/claim-invites`,
          { ...materialOf(channel, "i"), label: "" },
          200,
          "claim_invites"
        ],
        [`${hall}?tab=invitations`, `${hall}/join-links`, { secret: "s1.00000000.sealed" }, 200, "bootstrap_tokens"],
        [`${hall}?tab=settings`, `${hall}/grants`, deposit, 303, "channel_grants"],
        ["/portal/topologies", "/portal/topologies", {}, 303, "topologies"],
        [editor, `${drawn}/add`, { agent: keyOf("t3") }, 303, "topology_agents"],
        [editor, `${drawn}/connect`, { a: keyOf("t1"), b: keyOf("t2") }, 303, "topology_edges"],
        [editor, `${drawn}/share`, { email: "a@b.example" }, 303, "topology_shares"]
      ]
      const named = (action: string) =>
        action.replace(tunnel, ":id").replace(topology, ":id").replace(channel, ":channel")
      const made = new Set(rows.map(([, action]) => named(action)))
      assert.sameMembers([...made, ...repeatable, ...elsewhere], [...Addresses.forms])
      for (const [page, action, form, status, table] of rows) {
        const once = tokenOf((yield* get(page)).text, action)
        assert.match(once, /^[0-9a-f]{32}$/u, action)
        const before = yield* count(table)
        const sent = post(action, { ...form, once })
        const [one, other] = yield* Effect.all([sent, there(sent)], { concurrency: 2 })
        assert.strictEqual(one.status, status, `${action}: ${one.text.slice(0, 2000)}`)
        assert.deepStrictEqual(other, one, action)
        assert.deepStrictEqual(yield* sent, one, `${action}, reloaded`)
        assert.strictEqual((yield* count(table)) - before, 1, action)
      }
    }).pipe(Effect.provide(database), Effect.scoped)
  )

  it.effect("makes no second secret for a service account", () =>
    Effect.gen(function* () {
      const { get, post } = yield* personAt(person("once-rotating"))
      yield* post("/portal/account/service-accounts", { name: "ci" })
      const { text } = yield* get("/portal/account?tab=service-accounts")
      const action = /action="(\/portal\/account\/service-accounts\/[^"]+\/rotate)"/u.exec(text)?.[1] ?? ""
      const sent = post(action, { once: tokenOf(text, action) })
      const [one, other] = yield* Effect.all([sent, sent], { concurrency: 2 })
      assert.match(one.text, /client_secret=/u)
      assert.deepStrictEqual(other, one)
      assert.strictEqual(yield* count("audit_log", "action = 'service_account_rotated' and actor = 'once-rotating'"), 1)
    }).pipe(Effect.provide(database))
  )

  it.effect("is done anew where it was refused, or says something else, and by another account", () =>
    Effect.gen(function* () {
      const one = yield* personAt(person("once-one"))
      const other = yield* personAt(person("once-other"))
      const once = tokenOf((yield* one.get("/portal/tunnels")).text, "/portal/tunnels")
      const tunnels = count("tunnels", "subject in ('once-one', 'once-other')")
      assert.strictEqual((yield* one.post("/portal/tunnels", { name: "", once })).status, 400)
      assert.strictEqual((yield* one.post("/portal/tunnels", { name: "", once })).status, 400)
      assert.strictEqual((yield* one.post("/portal/tunnels", { name: "a", once })).status, 303)
      assert.strictEqual((yield* one.post("/portal/tunnels", { name: "b", once })).status, 303)
      assert.strictEqual((yield* other.post("/portal/tunnels", { name: "a", once })).status, 303)
      assert.strictEqual(yield* tunnels, 3)
      for (const wrong of ["", "x".repeat(32), "A".repeat(32), "a".repeat(33)])
        assert.strictEqual((yield* one.post("/portal/tunnels", { name: `c ${wrong}`, once: wrong })).status, 303)
      assert.strictEqual(yield* tunnels, 7)
    }).pipe(Effect.provide(database))
  )

  it.effect("says that it counted where its answer was lost or is too long to be kept, and keeps none in clear", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, post } = yield* personAt(person("once-lost"))
      const token = Effect.map(get("/portal/account?tab=credits"), ({ text }) =>
        tokenOf(text, "/portal/account/credits")
      )
      const first = { credits: "7", once: yield* token }
      const made = yield* post("/portal/account/credits", first)
      const payment = /[0-9a-f]{64}/u.exec(made.text)?.[0] ?? ""
      const kept = yield* sql<{ sealed: Uint8Array; keyHash: string }>`
        select sealed, key_hash from idempotent_answers order by created_at desc, ctid desc limit 1`
      assert.notInclude(Buffer.from(kept[0]?.sealed ?? []).toString("latin1"), payment)
      // A crash after the command and before its answer was kept leaves the claim.
      yield* sql`update idempotent_answers set sealed = null, nonce = null, created_at = created_at - 15 where key_hash = ${kept[0]?.keyHash ?? ""}`
      const again = yield* post("/portal/account/credits", first)
      assert.strictEqual(again.status, 409)
      assert.match(again.text, /<h1>Already submitted<\/h1>/u)
      assert.strictEqual(yield* count("payment_intents", "credits = 7"), 1)
      const once = yield* FormDeduplication.make
      const form = { sender: "once-lost", path: "/long", fields: { once: yield* token } }
      let runs = 0
      const long = once(
        form,
        Effect.sync(() => HttpServerResponse.text("x".repeat(16_385 + runs++)))
      )
      assert.strictEqual((yield* long).status, 200)
      assert.strictEqual((yield* Effect.flip(long))._tag, "FormSentBefore")
      assert.strictEqual(runs, 1)
    }).pipe(
      Effect.provide(Idempotency.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto), Layer.provideMerge(database)))
    )
  )

  it.effect("opens a share link of a single use once, for the browser that pressed its button", () =>
    Effect.gen(function* () {
      const { tunnel } = yield* Effect.map(ask(kim, "/me/tunnels", { name: "opened" }), ({ body }) => ({
        tunnel: String(body["id"])
      }))
      yield* ask(kim, `/me/tunnels/${tunnel}`, { require_login: true }, { method: "PATCH" })
      const minted = yield* ask(kim, `/me/tunnels/${tunnel}/share-links`, { ttl: "1h", single_use: true })
      const { pathname, search, searchParams } = new URL(String(minted.body["url"]))
      const one = yield* personAt("anonymous")
      const [page, others] = [(yield* one.get(pathname + search)).text, (yield* one.get(pathname + search)).text]
      const fields = { ...Object.fromEntries(searchParams), return: "/" }
      const clicked = one.post(pathname, { ...fields, once: tokenOf(page, pathname) })
      const [first, second] = yield* Effect.all([clicked, clicked], { concurrency: 2 })
      assert.strictEqual(first.status, 303)
      assert.match(first.cookie ?? "", /ct_gate_session=[\w-]{43};/u)
      assert.deepStrictEqual(second, first)
      assert.deepStrictEqual(yield* clicked, first)
      const late = yield* one.post(pathname, { ...fields, once: tokenOf(others, pathname) })
      assert.deepStrictEqual([late.status, late.cookie], [403, null])
      assert.strictEqual((yield* one.post(pathname, fields)).status, 403)
    })
  )
})
