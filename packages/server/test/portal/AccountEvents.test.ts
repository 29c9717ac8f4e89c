/** The events of an account: fed where things happen, listed with filters, exported, and forgotten. */
import { accountEventSeconds } from "@catenet/domain/values/Quotas"
import { database, server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountEvents } from "../../src/identity/AccountEvents.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { unixSeconds } from "../../src/runtime/UnixClock.ts"
import { personAt } from "./PersonAtForms.ts"

const zone = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_GATE_COOKIE_DOMAIN: "zone.example" }
const eva = person("events-eva")
const page = "/portal/fleet?tab=events"

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("events of an account", (it) => {
  it.effect("are what its people did and what happened to its tunnels, and nobody else's", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get } = yield* personAt(eva)
      assert.include((yield* get(page)).text, english.eventsNone)
      const made = yield* ask(eva, "/me/tunnels", { name: "cam" })
      const [id, host] = [String(made.body["id"]), String(made.body["hostname"])]
      const now = yield* unixSeconds
      yield* sql`insert into tunnel_watches (tunnel_id, is_up, since) values (${id}, true, ${now})`
      yield* sql`update tunnel_watches set is_up = true, since = ${now} where tunnel_id = ${id}`
      yield* sql`update tunnel_watches set is_up = false, since = ${now} where tunnel_id = ${id}`
      yield* sql`insert into tunnel_access_requests (tunnel_id, email, note, at, block)
        values (${id}, 'vera@a.example', '', ${now}, 'b')`
      yield* sql`insert into issuance_failures (hostname, ca, reason, detail, at, retry_at)
        values (${host}, 'ca', 'caa', 'CAA <i>forbids</i>', ${now}, ${now})`
      yield* sql`update hosts set status = 'gruen', claim = null, queued_at = null, retry_at = null where hostname = ${host}`
      const { text } = yield* get(page)
      for (const action of ["tunnel_up", "tunnel_down", "access_asked", "certificate_refused", "host_gruen"] as const)
        assert.strictEqual(text.split(`<b>${english.eventActions[action]}</b>`).length, 2, action)
      assert.include(text, english.eventActions.tunnel_enrolled)
      assert.include(text, "CAA &#60;i&#62;forbids&#60;/i&#62;")
      assert.notInclude(text, "vera@a.example", "a visitor's address is with the request alone")
      assert.include((yield* (yield* personAt(eva, "de")).get(page)).text, german.eventActions.tunnel_down)

      for (const [query, found, missing] of [
        ["kind=outage", "tunnel_down", "host_gruen"],
        ["kind=certificate", "host_gruen", "tunnel_down"],
        ["kind=change", "tunnel_enrolled", "tunnel_down"],
        ["q=FORBIDS", "certificate_refused", "tunnel_down"],
        [`before=${now - 60}`, undefined, "tunnel_down"]
      ] as const) {
        const shown = (yield* get(`${page}&${query}`)).text
        assert.include(shown, found === undefined ? english.noEventFits : english.eventActions[found], query)
        assert.notInclude(shown, english.eventActions[missing], query)
      }
      const file = yield* get("/portal/fleet/events.csv?kind=outage")
      assert.match(file.text, /^at,kind,action,about,name,detail\r\n/u)
      assert.lengthOf(file.text.match(/,outage,tunnel_(?:up|down),"[0-9a-f]{32}",/gu) ?? [], 2)
      const other = yield* personAt(person("events-other"))
      assert.include((yield* other.get(page)).text, english.eventsNone)
      assert.notInclude((yield* other.get("/portal/fleet/events.csv")).text, id)
    }).pipe(Effect.provide(database))
  )

  it.effect("are listed in pages, for thirty days, and go with the account", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pat = person("events-pat")
      const { get, post } = yield* personAt(pat)
      const now = yield* unixSeconds
      yield* get("/portal/account")
      yield* sql`insert into account_events (subject, at, kind, action, about, name)
        select 'events-pat', ${now} - n * 60, 'outage', 'tunnel_up', ${"ab".repeat(16)}, 'n' || n || '.example'
        from generate_series(60, 1, -1) n`
      const first = (yield* get(page)).text
      const next = /rel="next" href="([^"]+)"/u.exec(first)?.[1]?.replaceAll("&#38;", "&") ?? ""
      const names = (text: string) => [...text.matchAll(/>(n\d+)\.example</gu)].map(([, name]) => name)
      const both = [...names(first), ...names((yield* get(next)).text)]
      assert.deepStrictEqual(
        both,
        Array.from({ length: 60 }, (_, n) => `n${n + 1}`)
      )
      const count = (where: string) =>
        Effect.map(
          sql.unsafe<{ n: number }>(`select count(*)::int as n from account_events where ${where}`),
          ([found]) => found?.n
        )
      yield* sql`update account_events set at = ${now - accountEventSeconds - 60} where name = 'n60.example'`
      yield* sql`update account_events set at = ${now - accountEventSeconds + 600} where name = 'n59.example'`
      const { prune } = yield* AccountEvents.make
      yield* prune
      assert.deepStrictEqual([yield* count("name = 'n60.example'"), yield* count("name = 'n59.example'")], [0, 1])
      yield* post("/portal/account/delete", { confirm: "DELETE" })
      assert.strictEqual(yield* count("subject = 'events-pat'"), 0)
    }).pipe(Effect.provide(database))
  )
})
