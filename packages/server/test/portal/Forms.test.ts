import { database, server } from "@catenet/testing/server/Accounts"
import { ask, account, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer, type Server } from "node:http"
import * as AdmissionSweepStore from "../../src/certificates/AdmissionSweepStore.ts"

const zone = {
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_CP_ALERTS_LOOPBACK: "1"
}
const bridge = { CT_BRIDGE_HOLDER_KEY: "a1".repeat(32), CT_BRIDGE_NOISE_KEY: "a2".repeat(32) }

const ada = person("ada")
const bob = person("bob")

const post = (as: As, path: string, form: Readonly<Record<string, string>> = {}, more: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...(yield* headersOf(as)), ...more },
      body: new URLSearchParams(form).toString()
    })
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, location: response.headers.get("location"), text, headers: response.headers }
  })

/** Somebody who takes every message, until the scope ends. */
const receiver = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const listener = createServer((_, response) => void response.writeHead(200).end())
    listener.listen(0, "127.0.0.1", () => resume(Effect.succeed(listener)))
  }),
  (listener) => Effect.sync(() => (listener.closeAllConnections(), listener.close()))
).pipe(
  Effect.map((listener) => {
    const address = listener.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/hook`
  })
)

/** What a form was answered with: a status, and where to or what the page says. */
type Row = readonly [
  as: As,
  path: string,
  form: Readonly<Record<string, string>>,
  status: number,
  says?: string | RegExp
]

const hold = (rows: ReadonlyArray<Row>) =>
  Effect.forEach(rows, ([as, path, form, status, says]) =>
    Effect.gen(function* () {
      const answer = yield* post(as, path, form)
      const about = `${path} ${JSON.stringify(form)}: ${answer.text.slice(0, 400)}`
      assert.strictEqual(answer.status, status, about)
      if (status === 303)
        assert.strictEqual(
          // Without another word: to the part of the tunnel's page on which the form stands.
          says === undefined ? answer.location?.replace(/(?:\?tab=[a-z]+)?(?:#[a-z]+)?$/u, "") : answer.location,
          says ?? path.split("/").slice(0, 4).join("/"),
          about
        )
      else if (says !== undefined) assert.match(answer.text, new RegExp(says), about)
      if (status !== 303) assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })
  )

const webhook_url = "http://127.0.0.1:1/hook"

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("forms of the portal", (it) => {
  it.effect("of a tunnel do what they say, for its owner alone", () =>
    Effect.gen(function* () {
      const made = yield* ask(ada, "/me/tunnels", { name: "cam" })
      const id = String(made.body["id"])
      const own = `/portal/tunnels/${id}`
      yield* hold([
        [ada, `${own}/badge/enable`, {}, 303, `${own}/uptime`],
        [ada, `${own}/badge/enable`, {}, 303, `${own}/uptime`],
        [ada, `${own}/badge/disable`, {}, 303, `${own}/uptime`],
        [ada, `${own}/alert/test`, {}, 404],
        [ada, `${own}/alert`, { webhook_url: "ftp://x", threshold_minutes: "5" }, 400, "https"],
        [ada, `${own}/alert`, { webhook_url, threshold_minutes: "five" }, 400, "10080"],
        [ada, `${own}/alert`, {}, 400],
        [ada, `${own}/alert`, { webhook_url, threshold_minutes: "5" }, 200, /[0-9a-f]{64}/u],
        [ada, `${own}/alert`, { webhook_url, threshold_minutes: "6" }, 303],
        [ada, `${own}/alert/test`, {}, 200, /The test message was not delivered/u],
        [ada, `${own}/alert`, { webhook_url: yield* receiver, threshold_minutes: "6" }, 303],
        [ada, `${own}/alert/test`, {}, 303],
        [ada, `${own}/access`, { expiry_mode: "in", expires_in_hours: "0" }, 400, "8760"],
        [ada, `${own}/access`, { expiry_mode: "in", expires_in_hours: "2" }, 303],
        [ada, `${own}/access`, { rearm: "1" }, 303],
        [ada, `${own}/access/clear`, {}, 303],
        [ada, `${own}/access/clear`, {}, 303],
        [ada, `${own}/share-links`, { ttl: "1h" }, 400, "[Ll]ogin"],
        [ada, `${own}/agent-bridge/grant`, {}, 503],
        [ada, `${own}/agent-bridge/call`, { tool: "bridge/status", arguments: "{" }, 400, "JSON"],
        [ada, `${own}/agent-bridge/call`, { tool: "bridge/status" }, 503]
      ])
      yield* ask(ada, `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
      yield* hold([
        [ada, `${own}/share-links`, { ttl: "2h" }, 400, "ttl"],
        [ada, `${own}/share-links`, { ttl: "1h", label: "x".repeat(61) }, 400],
        [ada, `${own}/share-links`, { ttl: "1h", single_use: "on", label: "" }, 200, /token=[\w-]{43}/u]
      ])
      const links = yield* ask(ada, `/me/tunnels/${id}/share-links`)
      assert.deepInclude((links.body as unknown as Array<object>)[0], { single_use: true, label: null })
      const [{ id: link }] = links.body as unknown as [{ id: string }]
      const paths = ["badge/enable", "badge/disable", "alert/test", "alert/delete", "access/clear", "access"]
      yield* hold([
        ...paths.map((path): Row => [bob, `${own}/${path}`, {}, 404]),
        [bob, `${own}/alert`, { webhook_url, threshold_minutes: "5" }, 404],
        [bob, `${own}/share-links`, { ttl: "1h" }, 404],
        [bob, `${own}/share-links/${link}/revoke`, {}, 404],
        [ada, `${own}/share-links/${link}/revoke`, {}, 303],
        [ada, `${own}/share-links/${link}/revoke`, {}, 404],
        [ada, "/portal/tunnels/no-id/badge/enable", {}, 404],
        [ada, `${own}/alert/delete`, {}, 303],
        [ada, `${own}/alert/delete`, {}, 404]
      ])

      const { issuer } = yield* TestIssuer
      const bridged = yield* Layer.build(TestServer.replica({ CT_OIDC_ISSUER: issuer, ...zone, ...bridge }))
      const channel_id = idOf("bridge")
      const install = `${own}/agent-bridge/manifest/install`
      yield* Effect.provideService(
        hold([
          [ada, `${own}/agent-bridge/grant`, { channel_id, grant_hex: "zz" }, 400, "grant_hex"],
          [ada, `${own}/agent-bridge/grant`, { channel_id, grant_hex: grantBy("op", channel_id, "other") }, 400],
          [bob, `${own}/agent-bridge/grant`, { channel_id }, 404],
          [ada, `${own}/agent-bridge/call`, { tool: "bridge/status" }, 404],
          [ada, `${own}/agent-bridge/call`, { tool: "bridge/status", arguments: "{" }, 400, />\{<\/textarea>/u],
          [ada, `${install}`, { manifest_location: "http://a.example/m", project_name: "shop" }, 400, /value="shop"/u],
          [ada, `${install}`, { manifest_location: `https://a/${"x".repeat(2048)}`, project_name: "shop" }, 400],
          [ada, `${install}`, { manifest_location: "https://a.example/m", project_name: "" }, 400, /project-error/u],
          [ada, `${install}`, { manifest_location: "https://a.example/m", project_name: "x".repeat(65) }, 400],
          [ada, `${install}`, { manifest_location: "https://a.example/m", project_name: "x".repeat(64) }, 404],
          [bob, `${install}`, { manifest_location: "https://a.example/m", project_name: "shop" }, 404]
        ]),
        HttpServer.HttpServer,
        Context.get(bridged, HttpServer.HttpServer)
      )
    }).pipe(Effect.scoped)
  )

  it.effect("that are sent as JSON are asked for as forms", () =>
    Effect.gen(function* () {
      const headers = { ...(yield* headersOf(ada)), "content-type": "application/json" }
      const refused = (path: string, more: Record<string, string>) =>
        Effect.flatMap(
          TestServer.raw(path, { method: "POST", body: "{}", headers: { ...headers, ...more } }),
          (answer) => Effect.promise(async () => [answer.status, await answer.text()] as const)
        )
      for (const path of ["/portal/account/credits", "/gate/request-access"]) {
        const [status, page] = yield* refused(path, {})
        assert.strictEqual(status, 415, path)
        assert.match(page, /<html[\s\S]*application\/x-www-form-urlencoded/u)
        const [, problem] = yield* refused(path, { accept: "application/json" })
        assert.deepInclude(JSON.parse(problem), { status: 415, expected: "application/x-www-form-urlencoded" })
      }
    })
  )

  it.effect("are spent like the API: a budget of alerts' deliveries", () =>
    Effect.gen(function* () {
      const eve = person("eve")
      const made = yield* ask(eve, "/me/tunnels", { name: "cam" })
      const own = `/portal/tunnels/${String(made.body["id"])}`
      yield* post(eve, `${own}/alert`, { webhook_url, threshold_minutes: "5" })
      const answers = yield* Effect.forEach(
        Array.from({ length: 21 }, () => `${own}/alert/test`),
        (path) => post(eve, path)
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [...Array.from({ length: 20 }, () => 200), 429]
      )
      const [last] = answers.slice(-1)
      const seconds = Number(last?.headers.get("retry-after"))
      assert.isAbove(seconds, 3000)
      assert.include(last?.text, `Try again in ${Math.ceil(seconds / 60)} minutes.`)
    })
  )

  it.effect("of an account ask for credits and claim memberships", () =>
    Effect.gen(function* () {
      const channel = idOf("hall")
      yield* ask(account("ada"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      yield* ask(account("ada"), `/me/channels/${channel}/allowlist`, { email: "cyd@people.example" })
      const minted = yield* ask(account("ada"), `/me/channels/${channel}/claim-invites`, materialOf(channel, "dan"))
      const invite = String(minted.body["invite"])
      const claim = `/portal/channels/${channel}/claim-form`
      const nameless: As = { session: "nameless", email: null }
      yield* hold([
        [ada, "/portal/account/credits", { credits: "5" }, 200, /[0-9a-f]{64}/u],
        [ada, "/portal/account/credits", { credits: "0" }, 400],
        [ada, "/portal/account/credits", { credits: "many" }, 400, "credits"],
        [ada, "/portal/account/credits", {}, 400, "credits"],
        [nameless, "/portal/claim/confirm", { invite }, 403],
        [person("dan"), "/portal/claim/confirm", { invite: "nonsense" }, 404],
        [person("dan"), "/portal/claim/confirm", { invite }, 303, "/portal/channels?notice=claimed"],
        [person("dan"), "/portal/claim/confirm", { invite }, 410],
        [nameless, claim, materialOf(channel, "cyd"), 200, "Verified e-mail required"],
        [person("eve"), claim, materialOf(channel, "cyd"), 200, "<h1>(?!Claimed)"],
        [person("cyd"), claim, { holder: "x" }, 400, /name="holder"[^>]* aria-invalid="true" autofocus/u],
        [person("cyd"), claim, materialOf(channel, "cyd"), 200, "<h1>Claimed"]
      ])
      const members = yield* ask(account("ada"), `/me/channels/${channel}/members`)
      assert.strictEqual((members.body["members"] as Array<unknown>).length, 2)
    })
  )

  it.effect("count only from the portal itself, with a session, as forms", () =>
    Effect.gen(function* () {
      const made = yield* ask(ada, "/me/tunnels", { name: "own" })
      const path = `/portal/tunnels/${String(made.body["id"])}/badge/enable`
      const anonymous = yield* post("anonymous", path)
      assert.deepStrictEqual([anonymous.status, anonymous.location], [303, "/portal"])
      const stale = yield* post("anonymous", path, {}, { cookie: "__Host-ct_portal_session=stale" })
      assert.deepStrictEqual([stale.status, stale.location], [303, "/portal"])
      const bearer = yield* post(account("ada"), path)
      assert.deepStrictEqual([bearer.status, bearer.location], [303, "/portal"], "a token is no session")
      for (const site of ["same-site", "cross-site"]) {
        assert.strictEqual((yield* post(ada, path, {}, { "sec-fetch-site": site })).status, 403)
      }
      assert.strictEqual((yield* post(ada, path, {}, { origin: "https://evil.example" })).status, 403)
      assert.strictEqual((yield* post(ada, path, {}, { "content-type": "application/json" })).status, 415)
      assert.strictEqual((yield* post(ada, path, { x: "y".repeat(2 * 1024 * 1024) })).status, 413)
      assert.strictEqual((yield* TestServer.raw(path)).status, 405)
      const problem = yield* post(ada, "/portal/tunnels/x/badge/enable", {}, { accept: "application/json" })
      assert.strictEqual(problem.headers.get("content-type"), "application/problem+json")
      assert.deepInclude((yield* ask(ada, path.replace("/portal", "/me").replace("/enable", ""))).body, {
        public_id: null
      })
    })
  )

  it.effect("of a name's certificate give an open offer back, and none is made again until it is wanted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const made = yield* ask(ada, "/me/tunnels", { name: "declined" })
      const own = `/portal/tunnels/${String(made.body["id"])}`
      const host = String(made.body["hostname"])
      const of = sql`select claim, opted_out from hosts where hostname = ${host}`
      yield* sql`update hosts set claim = 'offered', ca = 'a', queued_at = null, deadline = 4102444800 where hostname = ${host}`
      yield* hold([
        [bob, `${own}/cert-claim-opt-out`, { enabled: "1" }, 404],
        [ada, `/portal/tunnels/${"ab".repeat(16)}/cert-claim-opt-out`, { enabled: "1" }, 404]
      ])
      assert.deepStrictEqual(yield* of, [{ claim: "offered", optedOut: false }])
      yield* hold([
        [ada, `${own}/cert-claim-opt-out`, { enabled: "1" }, 303],
        [ada, `${own}/cert-claim-opt-out`, { enabled: "1" }, 303]
      ])
      assert.deepStrictEqual(yield* of, [{ claim: "queued", optedOut: true }])
      const store = yield* AdmissionSweepStore.make(undefined)
      const names = Effect.map(store.candidates({ now: 2, perAccount: 9, perDomain: 9 }), (rows) =>
        rows.map(({ hostname }) => String(hostname))
      )
      assert.notInclude(yield* names, host)
      yield* hold([[ada, `${own}/cert-claim-opt-out`, {}, 303]])
      assert.deepStrictEqual(yield* of, [{ claim: "queued", optedOut: false }])
      assert.include(yield* names, host)
      const entries = yield* sql<{ action: string }>`
        select action from audit_log where target = ${String(made.body["id"])} and action like '%certificate%' order by id`
      assert.deepStrictEqual(
        entries.map(({ action }) => action),
        ["tunnel_certificate_declined", "tunnel_certificate_wanted"]
      )
    }).pipe(Effect.provide(database))
  )

  it.effect("of who may visit are read back as JSON by the owner's browser", () =>
    Effect.gen(function* () {
      const made = yield* ask(ada, "/me/tunnels", { name: "listed" })
      const path = `/portal/tunnels/${String(made.body["id"])}/login-allowlist`
      yield* hold([
        [ada, path, { email: "vera@a.example" }, 303, `${path.replace("/login-allowlist", "")}?tab=access#visitors`]
      ])
      const own = yield* ask(ada, path)
      assert.deepStrictEqual([own.status, own.body], [200, { emails: ["vera@a.example"] }])
      assert.strictEqual((yield* ask("anonymous", path)).code, "Unauthenticated")
      assert.deepStrictEqual([(yield* ask(bob, path)).status, (yield* ask(bob, path)).code], [404, "TunnelNotFound"])
    })
  )
})
