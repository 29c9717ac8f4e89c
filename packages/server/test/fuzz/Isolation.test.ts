/**
 * Two accounts that have everything there is. Every route of the API is called by one of them with what belongs to the
 * other, and with ids that do not exist: the answers are the same, tell nothing of the other, and change nothing of it.
 * One file, since it is one table of all routes and the two accounts that call them.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as Accounts from "@catenet/testing/server/Accounts"
import { grantBy, idOf, keyOf, linkOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { enlistedBy } from "../agents/Enlisting.ts"
import { secret as webhookSecret } from "../billing/Customers.ts"
import * as Client from "../faults/Client.ts"
import { guestOf, play } from "../faults/Scenario.ts"
import { settings } from "../identity/RealmServer.ts"
import { TestRealm } from "../identity/TestRealm.ts"

const variables = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: webhookSecret,
  CT_BRIDGE_HOLDER_KEY: "11".repeat(32),
  CT_BRIDGE_NOISE_KEY: "22".repeat(32),
  // What the server does by itself once a minute changes rows as well: none of it comes between two looks at them.
  CT_CP_ACME_BROKER_TICK_SECS: "86400",
  CT_CP_ALERT_TICK_SECS: "3600",
  CT_CP_EDGE_COMPARE_SECS: "3600",
  CT_CP_MAIL_TICK_SECS: "86400",
  CT_CP_OUTBOX_TICK_SECS: "3600",
  CT_CP_SERVICE_ACCOUNT_TICK_SECS: "3600"
}
const server = Layer.unwrap(
  Effect.gen(function* () {
    const edge = yield* RecordingEdge
    return TestServer.layer({ ...(yield* settings), ...variables, CT_CP_EDGE_ADMIN_URL: edge.url })
  })
).pipe(Layer.provideMerge(Layer.mergeAll(TestIssuer.layer, TestRealm.layer, RecordingEdge.layer)))

/** What belongs to a party, by the names that paths and bodies have for it. */
const belongings = (word: string, named: (name: string) => string) => {
  const channel = idOf(`${word} hall`)
  return {
    tunnel: named("cam"),
    topology: named("net"),
    pipeline: `${word}.line`,
    link_id: named("kept link"),
    client_id: named("build client"),
    net_uuid: named("net page"),
    file: `${named("badge")}.svg`,
    routing_token: named("given token"),
    account: named("account"),
    payment: named("payment"),
    subject: `${word}-owner`,
    grantee: `${word} friend`,
    email: guestOf(word),
    hostname: `${word}-cam.zone.example`,
    channel,
    holder: keyOf(`${word} one`),
    agent: keyOf(`${word} p`),
    other: keyOf(`${word} q`),
    operator: keyOf(`${word} host`),
    link: linkOf(`${word} host`, `${word} p`, `${word} q`),
    token: keyOf(`${word} token`),
    member: materialOf(channel, `${word} phone`),
    grant: grantBy(`${word} host`, channel, `${word} one`)
  }
}
type Belongings = ReturnType<typeof belongings>

/** Ids that do not exist, of the same form and length. */
const unknownBelongings = (word: string) =>
  belongings(word, (name) => {
    const hex = createHash("sha256")
      .update(word + name)
      .digest("hex")
    if (name === "build client") return `sa-${hex.slice(0, 32)}`
    return ["cam", "net", "kept link", "net page"].includes(name) ? hex.slice(0, 32) : hex
  })
const unknown = unknownBelongings("zilch")
const others = unknownBelongings("nihil")

/** A token of the login gate that was never minted. */
const visit = Buffer.alloc(32).toString("base64url")

/** The bodies of routes that have one. None is for routes that decide before they look at it. */
const bodies: Readonly<Record<string, (its: Belongings) => unknown>> = {
  "enrollment.issue": () => ({ tenant: "t" }),
  "enrollment.issueBatch": () => ({ tenant: "t", count: 1 }),
  "enrollment.redeem": ({ agent, token }) => ({ token, agent: "a", pubkey: agent, proof: "00".repeat(64) }),
  "enrollment.mintBootstrap": () => ({ secret: "s" }),
  "enrollment.redeemBootstrap": ({ token }) => ({ token }),
  "enrollment.currentToken": ({ token }) => ({ token }),
  "enrollment.reportVersion": ({ token }) => ({ token, version: "0.1.0" }),
  "provisioning.provisionTunnel": ({ hostname, subject }) => ({ subject, name: "n", hostname }),
  "admission.issuanceComplete": () => ({}),
  "admission.issuanceFailed": () => ({ ca: "a", reason: "caa" }),
  "admission.issuanceProgress": () => ({ step: "ordering", agent: "ab".repeat(8) }),
  "admission.setChallenge": ({ hostname, token }) => ({ token, hostname, value: "v" }),
  "admission.clearChallenge": ({ hostname, token }) => ({ token, hostname }),
  "agentPolicy.redeem": ({ hostname, token }) => ({ token, host: hostname, code: visit, browser: "00".repeat(32) }),
  "agentPolicy.caller": ({ hostname, token }) => ({
    token,
    host: hostname,
    resource: `https://${hostname}/`,
    bearer: "b"
  }),
  "tunnels.create": ({ hostname }) => ({ name: "n", hostname }),
  "tunnels.change": () => ({ name: "stolen", require_login: false }),
  "tunnels.grant": () => ({ grantee: "thief" }),
  "tunnels.setHostname": () => ({ hostname: null }),
  "tunnels.allowVisitor": () => ({ email: "thief@thieves.example" }),
  "tunnelControls.saveAlert": () => ({ webhook_url: "https://thieves.example/", threshold_minutes: 1 }),
  "tunnelControls.setAccess": () => ({ expires_at: 1, schedule: null }),
  "tunnelControls.setHttpOnly": () => ({ http_only: true }),
  "tunnelControls.setRules": () => ({ rules: [] }),
  "tunnelControls.mintShareLink": () => ({ ttl: "1h" }),
  "bridge.setMode": () => ({ mode: "permanent" }),
  "bridge.storeGrant": ({ channel, grant }) => ({ channel_id: channel, grant_hex: grant }),
  "bridge.call": () => ({ tool: "bridge/status" }),
  "channels.register": ({ channel }) => ({ channel, operator_pubkey: keyOf("thief") }),
  "channels.addMember": ({ member }) => member,
  "channels.depositGrant": ({ grant }) => ({ grant }),
  "channels.allow": () => ({ email: "thief@thieves.example" }),
  "channels.mintClaimInvite": ({ member }) => member,
  "channels.mintJoinLink": () => ({ secret: "sealed" }),
  "channels.openRoom": ({ agent, operator, other }) => ({
    operator_pubkey: operator,
    holders: [agent, other, keyOf("thief")]
  }),
  "claims.claim": ({ member }) => member,
  "claims.confirmInvite": ({ token }) => ({ invite: Buffer.from(token, "hex").toString("base64url") }),
  "invitations.redeem": ({ grant, member }) => ({ ...member, invitation: grant, redeem_sig: "00".repeat(64) }),
  "topologies.assignAgent": ({ agent }) => ({ agent }),
  "topologies.labelAgent": () => ({ label: "stolen" }),
  "topologies.putNoiseKey": ({ link, member }) => ({ channel: link, ...member }),
  "topologies.addEdge": ({ agent, other }) => ({ a: agent, b: other }),
  "topologies.removeEdge": ({ agent, other }) => ({ a: agent, b: other }),
  "topologies.noteChannel": ({ agent, link, other }) => ({ a: agent, b: other, channel: link }),
  "topologies.setMode": () => ({ mode: "shortcut" }),
  "topologies.suggest": () => ({}),
  "topologies.bindOperator": ({ operator }) => ({ operator_pubkey: operator, proof: "00".repeat(64) }),
  "topologies.share": () => ({ email: "thief@thieves.example" }),
  "pipelines.publish": ({ pipeline }) => ({ spec: { id: pipeline, roles: [] } }),
  "pipelines.publishFor": ({ pipeline, subject }) => ({ owner: subject, spec: { id: pipeline, roles: [] } }),
  "directory.register": ({ agent }) => ({ holder_pubkey: agent, card_url: "https://thieves.example/" }),
  "directory.enlist": ({ agent, subject }) => ({ ...enlistedBy(subject, "thief"), holder_pubkey: agent }),
  "directory.registerRendezvous": ({ token }) => ({ token, tenant: "t", agent: "a" }),
  "serviceAccounts.create": () => ({ name: "n" }),
  "credits.issue": () => ({ price: 1 }),
  "accounts.buyCredits": () => ({ credits: 1 }),
  "billing.intendPayment": ({ account }) => ({ account, credits: 1 }),
  "billing.issue": ({ account }) => ({ account, price: 1 }),
  "paymentWebhook.confirm": ({ payment }) => ({ payment, status: "succeeded" }),
  "operators.setMaxTunnels": () => ({ max: 0 }),
  "operators.setMaxChannels": () => ({ max: 0 }),
  "operators.changeLimits": () => ({ max_ports: 0, max_hosts: 0 }),
  "edges.authorizeChannel": ({ channel, holder }) => ({ channel, holder }),
  "edges.heartbeat": () => ({ id: "primary", peer_addr: "thieves.example:1" }),
  "edges.presence": ({ routing_token }) => ({ edge_id: "primary", whole: false, present: [], absent: [routing_token] }),
  "edges.certificates": () => ({ id: "primary", key: "09".repeat(32), signature: "00".repeat(64), since: 0 }),
  "edges.ticketKeys": () => ({ id: "primary", key: "09".repeat(32), signature: "00".repeat(64) }),
  "edges.agentProved": ({ agent, routing_token }) => ({ token: routing_token, key: agent }),
  "edges.checkVisitor": ({ hostname }) => ({ host: hostname }),
  "edges.redeemGateCode": ({ hostname }) => ({ host: hostname, code: visit, browser: "00".repeat(32) }),
  "edges.endVisit": ({ hostname }) => ({ host: hostname, session: visit })
}

/** Routes whose answer may tell that something is there, and why. They still change nothing of another. */
const telling: Readonly<Record<string, string>> = {
  "tunnels.create": "a hostname belongs to one tunnel",
  "channels.register": "the number of a channel belongs to one account",
  "channels.openRoom": "so does that of a pair's channel",
  "topologies.assignAgent": "an agent belongs to one account",
  "invitations.redeem": "an invited account learns that the channel is gone",
  "pipelines.publish": "the registry is public, and an id is one owner's",
  "pipelines.withdraw": "the registry is public",
  "pipelines.get": "the registry is public",
  "directory.get": "the directory is public",
  "networks.get": "the page of a topology is public",
  "badges.svg": "a badge is public",
  "admission.admission": "whether a hostname is known stands in the DNS",
  "admission.issuanceFailed": "whether a hostname is known stands in the DNS",
  "admission.standing": "whether a hostname is known stands in the DNS",
  "admission.issuanceProgress": "whether a hostname is known stands in the DNS",
  "admission.setChallenge": "whether a hostname is known stands in the DNS"
}

/** Routes that show to everybody what an account published. */
const publicly = new Set([
  "pipelines.list",
  "pipelines.get",
  "directory.search",
  "directory.get",
  "networks.get",
  "badges.svg"
])

/** The end of an account comes last. */
const last = "accounts.remove"

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly hasBody: boolean
}

const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = []
  HttpApi.reflect(ControlPlaneApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const name = `${group.identifier}.${endpoint.identifier}`
      const { method, path } = endpoint
      if (name !== last) found.push({ name, method, path, hasBody: endpoint.payload.size > 0 })
    }
  })
  return found
})()

/** The value for a parameter of a path; `id` means what the path is about. */
const parameter = (path: string, name: string, its: Belongings): string => {
  if (name === "id") {
    if (path.includes("/tunnels/")) return its.tunnel
    if (path.includes("/topologies/")) return its.topology
    return path.includes("/pipelines/") ? its.pipeline : "primary"
  }
  if (name === "edge_id") return "primary"
  if (name === "host") return its.hostname
  const value = its[name as keyof Belongings]
  assert(typeof value === "string", `nothing is known of :${name} in ${path}`)
  return value
}

const sample = (route: Route, its: Belongings) => {
  const path = route.path.replaceAll(/:([a-z_]+)/g, (_, name: string) =>
    encodeURIComponent(parameter(route.path, name, its))
  )
  const body = bodies[route.name]
  assert(!route.hasBody || body !== undefined, `no body for ${route.name}`)
  return { path, body: body === undefined ? undefined : JSON.stringify(body(its)) }
}

/** Whether a route is asked about something that belongs to somebody. */
const isAbout = (route: Route) => JSON.stringify(sample(route, unknown)) !== JSON.stringify(sample(route, others))

interface Answer {
  readonly status: number
  readonly headers: string
  readonly text: string
}

const send = (route: Route, its: Belongings, headers: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const { body, path } = sample(route, its)
    const response = yield* TestServer.raw(path, {
      method: route.method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body })
    })
    const kept = [...response.headers].filter(([name]) => name !== "date" && name !== "x-request-id")
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, headers: JSON.stringify(kept), text, asked: path + (body ?? "") }
  })

/** An answer without what differs from call to call: what was asked about, values by chance, and times. */
const plain = ({ headers, status, text }: Answer, its: Belongings) => {
  const values = Object.values(its).flatMap((value) => (typeof value === "string" ? [value] : Object.values(value)))
  const without = [...values, "zilch", "alice", "bobby"].reduce(
    (left, value) => left.replaceAll(value, "·"),
    headers + text
  )
  return `${status} ${without.replaceAll(/[A-Za-z0-9_-]{32,}|\b1\d{9}\b/g, "#")}`
}

/** Everything that has to do with a party: rows of any table, but for the time of the next look, and orders to the edge. */
const traces = (marks: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_name <> 'portal_sessions' order by 1`
    const found: Array<string> = []
    for (const { name } of tables) {
      const rows = yield* sql<{ row: string }>`select (to_jsonb(t) - 'due_at')::text as row from ${sql(name)} t`
      for (const { row } of rows) if (marks.some((mark) => row.includes(mark))) found.push(`${name} ${row}`)
    }
    const { orders } = yield* RecordingEdge
    for (const { body, path, token } of orders) {
      const order = `edge ${path} ${token} ${body}`
      if (/authorize-host|revoke|access-policy/.test(path) && marks.some((mark) => order.includes(mark)))
        found.push(order)
    }
    return found
  }).pipe(Effect.provide(Layer.fresh(Accounts.database)))

/** What is in one of them only, or more often. */
const changes = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) => {
  const left = [...before]
  const added = after.filter((row) => {
    const at = left.indexOf(row)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return [...left.map((row) => `gone: ${row}`), ...added.map((row) => `new: ${row}`)]
}

/** An account with everything, and how it and its guest call. */
const settle = (word: string) =>
  Effect.gen(function* () {
    const owner = `${word}-owner`
    const bearer = { authorization: `Bearer ${yield* Accounts.bearerOf(owner)}` }
    const cookie = (sub: string, email: string) =>
      Effect.map(Accounts.sessionOf(sub, email), (session) => ({ cookie: `__Host-ct_portal_session=${session}` }))
    const guest = yield* cookie(`${word}-guest`, guestOf(word))
    const session = yield* cookie(owner, `${word}@${word}.example`)
    const credentials = { operator: { "x-ct-admin-token": TestServer.adminToken }, owner: bearer, guest, anonymous: {} }
    const client = yield* Client.make({
      urls: [yield* TestServer.baseUrl],
      credentials: (as) => credentials[as],
      beside: () => Effect.void
    })
    const names = new Map<string, string>()
    yield* play(client, { owner, word }, names)
    const values = new Map([...names].map(([value, name]) => [name.slice(1, -1), value]))
    const its = belongings(word, (name) => values.get(name) ?? assert.fail(`nothing is called ${name}`))
    return { word, its, marks: [word, ...names.keys()], callers: [bearer, session, guest, {}], bearer }
  })
type Party = Effect.Success<ReturnType<typeof settle>>

/** One party calls everything with what is the other's. */
const trespass = (thief: Party, victim: Party) =>
  Effect.gen(function* () {
    const before = yield* traces(victim.marks)
    const found: Array<string> = []
    for (const route of routes) {
      for (const caller of thief.callers) {
        const theirs = yield* send(route, victim.its, caller)
        if (isAbout(route) && !(route.name in telling)) {
          const none = yield* send(route, unknown, caller)
          const [one, other] = [plain(theirs, victim.its), plain(none, unknown)]
          if (one !== other) found.push(`${route.name} differs:\n  ${one}\n  ${other}`)
        }
        const leaks = victim.marks.filter((mark) => theirs.text.includes(mark) || theirs.headers.includes(mark))
        const added = leaks.filter((mark) => !theirs.asked.includes(mark))
        if (added.length > 0 && !publicly.has(route.name))
          found.push(`${route.name} tells ${added.join()}: ${theirs.text}`)
      }
    }
    assert.deepStrictEqual(found, [])
    assert.deepStrictEqual(changes(before, yield* traces(victim.marks)), [])
  })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("two accounts", (it) => {
  it.effect(
    "can neither see nor change each other's resources",
    () =>
      Effect.gen(function* () {
        const alice = yield* settle("alice")
        const bobby = yield* settle("bobby")
        yield* trespass(alice, bobby)
        yield* trespass(bobby, alice)
        const before = yield* traces(bobby.marks)
        const deleted = yield* TestServer.raw("/me/account/delete", {
          method: "POST",
          headers: { ...alice.bearer, "content-type": "application/json" },
          body: JSON.stringify({ confirm: "DELETE" })
        })
        assert.strictEqual(deleted.status, 200)
        assert.deepStrictEqual(changes(before, yield* traces(bobby.marks)), [])
      }),
    600_000
  )
})
