/** What is handed out or carried to the server as a secret stands in no row of its database as it is. */
import { database } from "@catenet/testing/server/Accounts"
import { browser, gated, portal, server } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Every row of every table, bytes as hex digits. */
const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{
    name: string
  }>`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`
  const found = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(sql.unsafe<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`), (all) =>
      all.map(({ row }) => `${name} ${row}`)
    )
  )
  return found.flat()
}).pipe(Effect.provide(database))

/** A secret as a column of text or of bytes would hold it. */
const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64url"),
  Buffer.from(secret, "base64url").toString("hex")
]

const isIn = (secret: string) => (row: string) => spellings(secret).some((spelling) => row.includes(spelling))

/** A request that may be repeated, and what it answers. */
const send = (method: string, path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
  TestServer.raw(path, {
    method,
    headers: { "content-type": "application/json", "idempotency-key": path, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).pipe(
    Effect.flatMap((response) => Effect.promise(() => response.json() as Promise<Readonly<Record<string, unknown>>>))
  )

const post = (path: string, body: unknown) => send("POST", path, body, { "x-ct-admin-token": TestServer.adminToken })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a secret", (it) => {
  it.effect("is stored in no row in plain text", () =>
    Effect.gen(function* () {
      const host = "rest.zone.example"
      const { id } = yield* gated(host, { allow_any_login: true })
      const secrets: Array<readonly [string, string]> = []
      const isNowhere = Effect.gen(function* () {
        const all = yield* rows
        const open = secrets.filter(([, secret]) => all.some(isIn(secret))).map(([name]) => name)
        assert.deepStrictEqual(open, [])
        return all
      })

      const invite = "Inv1te_of-a-claim".repeat(3).slice(0, 43)
      const key = "Key.in.the.path.of.a.visitor"
      secrets.push(["invite", invite], ["path", key])
      const [vera, olga] = [browser(), browser()]
      const asked = new URL((yield* vera.check(host, `/photos?key=${key}`)).headers.get("location") ?? "")
      const back = yield* vera.signIn(asked.href, "vera@example.test")
      const place = `/portal/claim?invite=${invite}`
      const backToPortal = yield* olga.signIn(`/portal?next=${encodeURIComponent(place)}`, "olga@example.test")
      for (const jar of [vera.jars.platform, olga.jars.platform])
        for (const [name, value] of jar) if (name !== "ct_gate_target") secrets.push([name, value])
      assert.strictEqual((yield* isNowhere).filter((row) => /^(?:gate|portal)_sign_ins /u.test(row)).length, 2)

      const entry = new URL((yield* vera.get(back)).headers.get("location") ?? "")
      const code = entry.searchParams.get("code") ?? ""
      secrets.push(["code", code])
      const entered = yield* olga.get(backToPortal)
      assert.strictEqual(entered.headers.get("location"), place)
      const session = olga.jars.platform.get("__Host-ct_portal_session") ?? ""
      secrets.push(["session", session], ["id token", "eyJhbGciOi"])
      assert.strictEqual((yield* isNowhere).filter((row) => row.startsWith("gate_codes ")).length, 1)

      const shown = { host, code, browser: asked.searchParams.get("browser") ?? "" }
      const visit = yield* post("/internal/gate/redeem", shown)
      assert.strictEqual(visit["path"], `/photos?key=${key}`)
      const cookie = `__Host-ct_portal_session=${session}`
      const tunnel = `/me/tunnels/${id}`
      const webhook = "T0/B0/webhooks-carry-their-secret-in-the-address"
      const alert = { webhook_url: `https://hooks.example.test/${webhook}`, threshold_minutes: 5 }
      const saved = yield* send("PUT", `${tunnel}/alert`, alert, { cookie, origin: portal })
      const link = yield* send("POST", `${tunnel}/share-links`, { ttl: "1h" }, { cookie, origin: portal })
      const installed = yield* send("POST", `${tunnel}/install`, undefined, { cookie, origin: portal })
      const bootstrap = "b0075ec7e7".repeat(6)
      const minted = yield* post("/bootstrap/mint", { secret: bootstrap, ttl_secs: 60 })
      const given: Readonly<Record<string, unknown>> = {
        visit: visit["session"],
        alert: saved["secret"],
        webhook,
        link: new URL(String(link["url"])).searchParams.get("token"),
        install: installed["join_token"],
        join: (yield* post("/enroll/issue", { tenant: "rest" }))["token"],
        mint: minted["token"],
        bootstrap
      }
      for (const [name, secret] of Object.entries(given)) {
        assert(typeof secret === "string" && secret.length >= 32, name)
        secrets.push([name, secret])
      }
      yield* isNowhere
    })
  )

  it.effect("of a sign-in that an earlier release began leads to its page", () =>
    Effect.gen(function* () {
      const vera = browser()
      const back = yield* vera.signIn("/portal", "vera@example.test")
      const place = "/portal/claim?invite=earlier"
      yield* Effect.provide(
        SqlClient.SqlClient.use((sql) => sql`update portal_sign_ins set next = ${place}`),
        database
      )
      assert.strictEqual((yield* vera.get(back)).headers.get("location"), place)
    })
  )
})
