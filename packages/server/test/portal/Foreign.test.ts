/**
 * What belongs to another account is to everybody else what never was: the same bytes, and as many questions to the database,
 * at every page and every form whose address names something. An address that is not listed is asked all the same.
 */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Tracer } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { servedRoutes } from "../ServedRoutes.ts"
import { personAt } from "./PersonAtForms.ts"

const variables = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_OPERATORS: "foreign-op",
  CT_BRIDGE_HOLDER_KEY: "a1".repeat(32),
  CT_BRIDGE_NOISE_KEY: "a2".repeat(32)
}
const eve = person("foreign-eve")
const mails = { visitor: "vera@a.example", editor: "foreign-sam@people.example" }

/** Addresses that are the same for everybody. */
const open = new Set(["/net/:net_uuid", "/net/:net_uuid/events"])

type Person = Effect.Success<ReturnType<typeof personAt>>
type Route = readonly [method: string, path: string]
type Values = Readonly<Record<string, string>>
const unknown: Values = {
  tunnels: "ab".repeat(16),
  topologies: "ac".repeat(16),
  sessions: "ad".repeat(16),
  orders: "9".repeat(9),
  channel: "cd".repeat(32),
  email: "unknown@y.example",
  grantee: "unknown",
  link_id: "ae".repeat(16),
  client_id: `sa-${"0".repeat(32)}`,
  holder: "ce".repeat(32)
}

/** What one account has, of everything that an address can name. */
const furnished = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tunnel = String((yield* ask(eve, "/me/tunnels", { name: "hers" })).body["id"])
  const own = `/me/tunnels/${tunnel}`
  yield* ask(eve, own, { require_login: true }, { method: "PATCH" })
  yield* ask(eve, `${own}/login-allowlist`, { email: mails.visitor })
  yield* ask(eve, `${own}/grants`, { grantee: "foreign-gus" })
  yield* ask(eve, `${own}/share-links`, { ttl: "1h" })
  const links = (yield* ask(eve, `${own}/share-links`)).body as unknown as ReadonlyArray<{ readonly id: string }>
  const channel = idOf("foreign")
  const operator = account("foreign-eve")
  yield* ask(operator, "/me/channels", { channel, operator_pubkey: keyOf("op") })
  yield* ask(operator, `/me/channels/${channel}/members`, materialOf(channel, "hers"))
  yield* ask(operator, `/me/channels/${channel}/allowlist`, { email: mails.visitor })
  const topology = String((yield* ask(eve, "/me/topologies", {})).body["id"])
  yield* ask(eve, `/me/topologies/${topology}/share`, { email: mails.editor })
  const client = `sa-${"12".repeat(16)}`
  yield* sql`insert into service_accounts (client_id, owner, name, state, place, internal_id, created_at, due_at)
    values (${client}, 'foreign-eve', 'hers', 'active', 1, 'internal', 1, 1)`
  const [one] = [yield* personAt(eve), yield* personAt(eve)]
  const session = /sessions\/([^/"]+)\/end/u.exec((yield* one.get("/portal/account")).text)?.[1] ?? ""
  const values: Values = {
    tunnels: tunnel,
    topologies: topology,
    sessions: session,
    orders: "1",
    channel,
    email: mails.visitor,
    grantee: "foreign-gus",
    link_id: links[0]?.id ?? "",
    client_id: client,
    holder: keyOf("hers")
  }
  for (const [name, value] of Object.entries(values)) assert.notStrictEqual(value, "", name)
  return values
})

const at = (path: string, values: Values) =>
  path.replace(/([a-z]+)\/:id|:([a-z_]+)/gu, (_, kind: string | undefined, name: string) =>
    kind === undefined ? (values[name] ?? "?") : `${kind}/${values[kind] ?? "?"}`
  )

/** A page without what was asked for, and without what is drawn anew for each. */
const plain = (text: string, values: Values) =>
  Object.values(values)
    .filter((value) => /^[0-9a-f]{32,}$/u.test(value) || value.includes("@"))
    .reduce(
      (left, value) =>
        left
          .replaceAll(value, "?")
          .replaceAll(`${value.slice(0, 8)}…${value.slice(-6)}`, "?")
          .replaceAll(value.slice(0, 8), "?"),
      text
    )
    .replaceAll(/name="once" value="[0-9a-f]{32}"/gu, "once")

const routes = (served: ReadonlyArray<Route>): ReadonlyArray<Route> => [
  ...served.filter(([, path]) => path.includes(":") && !open.has(path)),
  ["GET", "/portal/events?topology=:topology"],
  ["GET", "/portal/tunnels/:id/receipts.jsonl"],
  ["GET", "/portal/channels/:channel/grant"]
]

/** A body that every form can read. */
const body = {
  name: "other",
  port: "80",
  grantee: "other",
  email: "a@b.example",
  ttl: "1h",
  mode: "off",
  webhook_url: "https://a.example",
  threshold_minutes: "5",
  a: keyOf("a"),
  b: keyOf("b"),
  agent: keyOf("a"),
  operator_pubkey: keyOf("op"),
  confirm: "1",
  confirm_rekey: "1",
  channel_id: "ab".repeat(32),
  tool: "bridge/status",
  manifest_location: "https://a.example/m",
  project_name: "shop",
  shortcut_budget: "0"
}
const ofTopology = { mode: "baseline", proof: "ab".repeat(64) }

layer(server(variables), { excludeTestServices: true, timeout: "120 seconds" })("what is another's", (it) => {
  it.effect("is at every address that names something what never was, in its bytes and in its work", () =>
    Effect.gen(function* () {
      const hers = yield* furnished
      const foreign: Values = { ...hers, topology: hers["topologies"] ?? "" }
      const none: Values = { ...unknown, topology: unknown["topologies"] ?? "" }
      let statements = 0
      const counting = Tracer.make({
        span: (options) => {
          if (options.kind === "client") statements++
          return new Tracer.NativeSpan(options)
        }
      })
      const { issuer } = yield* TestIssuer
      const counted = yield* Layer.build(
        TestServer.replica({ ...variables, CT_OIDC_ISSUER: issuer }).pipe(
          Layer.provide(Layer.succeed(Tracer.Tracer, counting))
        )
      )
      const there = Effect.provideService(HttpServer.HttpServer, Context.get(counted, HttpServer.HttpServer))
      const asked = Effect.fnUntraced(function* (who: Person, route: Route, values: Values) {
        const address = at(route[1], values)
        const before = statements
        const { location, status, text } = yield* there(
          route[0] === "GET"
            ? who.get(address)
            : who.post(address, { ...body, ...(address.includes("topologies") ? ofTopology : {}) })
        )
        return { status, location, text: status === 404 ? text : plain(text, values), statements: statements - before }
      })
      const both = Effect.fnUntraced(function* (who: Person, route: Route) {
        let [theirs, nothing] = [yield* asked(who, route, foreign), yield* asked(who, route, none)]
        // What the server does by itself between two requests is counted, too.
        for (let again = 0; again < 5 && theirs.statements !== nothing.statements; again++)
          [theirs, nothing] = [yield* asked(who, route, foreign), yield* asked(who, route, none)]
        return [theirs, nothing] as const
      })
      const people = new Map<string, Person>()
      for (const name of ["foreign-bob", "foreign-op", "foreign-gus", "foreign-sam"])
        people.set(name, yield* personAt(person(name)))
      const wrong: Array<string> = []
      const differs = Effect.fnUntraced(function* (name: string, route: Route) {
        const who = people.get(name) ?? assert.fail(name)
        const [theirs, nothing] = yield* both(who, route)
        const about = `${name} ${route.join(" ")}: `
        // The form of a claim is the same for every channel.
        const isForm = /\/claim(?:-form)?$/u.test(route[1])
        if (nothing.status !== 404 && !isForm) wrong.push(`${about}${nothing.status} for nothing`)
        // Who edits a topology is shown it with the refusal of what is its owner's.
        if (name === "foreign-sam") {
          if (theirs.status !== 404) wrong.push(`${about}${theirs.status}`)
          return
        }
        if (theirs.statements !== nothing.statements)
          wrong.push(`${about}${theirs.statements} statements, ${nothing.statements} for nothing`)
        if (theirs.status !== nothing.status || theirs.location !== nothing.location || theirs.text !== nothing.text)
          wrong.push(`${about}${theirs.status} ${theirs.location}, ${nothing.status} ${nothing.location} for nothing`)
      })
      for (const route of routes(yield* servedRoutes)) {
        yield* differs("foreign-bob", route)
        // Who runs the platform sees of accounts what the operators' page has, and no page of theirs.
        if (route[0] === "GET") yield* differs("foreign-op", route)
        // To whom a tunnel is shared, it is not theirs to change.
        if (
          /tunnels\/:id\/(?!install$)|topologies\/:id\/(?:mode|suggest|share|unshare|bind|unbind|delete)$/u.test(
            route[1]
          )
        )
          yield* differs(route[1].includes("tunnels") ? "foreign-gus" : "foreign-sam", route)
      }
      assert.deepStrictEqual(wrong, [])
      const still = yield* ask(eve, `/me/tunnels/${hers["tunnels"] ?? ""}`)
      assert.deepInclude(still.body, { name: "hers", require_login: true, bridge_mode: "off" })
    }).pipe(Effect.provide(database), Effect.scoped)
  )
})
