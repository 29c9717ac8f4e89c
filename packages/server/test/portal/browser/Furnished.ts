/** A platform with something on every page: tunnels in each state, channels, topologies, notices, and who sees what. */
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { TunnelFigures } from "@catenet/domain/tunnels/TunnelTraffic"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { Clock, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { hashToken } from "../../../src/runtime/TokenSecrets.ts"
import { unixSeconds } from "../../../src/runtime/UnixClock.ts"
import { FactsEdge } from "../../tunnels/records/FactsEdge.ts"
import * as FactsServer from "../../tunnels/records/FactsServer.ts"

export const owner = person("ada")
export const operator = person("olga")
/** Somebody who has nothing yet. */
export const newcomer = person("nova")
export const variables = {
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_OPERATORS: "olga",
  CT_CP_SERVICE_ACCOUNTS: "1",
  CT_PORTAL_SOCIAL_PROVIDERS: "github, google",
  CT_BRIDGE_HOLDER_KEY: "a1".repeat(32),
  CT_BRIDGE_NOISE_KEY: "a2".repeat(32)
}

const day = 86_400

const figures = (today: number, scale: number): typeof TunnelFigures.Encoded => ({
  sessions: 12,
  visitors: 4321 * scale,
  bytes_in: 3_000_000 * scale,
  bytes_out: 50_000_000 * scale,
  longest_outage_secs: 7200,
  days: Array.from({ length: 30 }, (_, n) => ({
    start: today - (29 - n) * day,
    uptime_pct: n < 4 ? null : n === 12 ? 41 : n === 20 ? 96.5 : 100,
    visitors: n < 8 ? null : ((n * 37) % 90) * scale,
    bytes_in: n < 8 ? null : ((n * 53) % 70) * 40_000 * scale,
    bytes_out: n < 8 ? null : ((n * 31) % 80) * 500_000 * scale
  }))
})

const post = (as: As, path: string, form: Readonly<Record<string, string>>) =>
  Effect.flatMap(headersOf(as), (own) =>
    TestServer.raw(path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...own },
      body: new URLSearchParams(form).toString()
    })
  )

const tunnels = Effect.gen(function* () {
  const edge = yield* FactsEdge
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const today = now - (now % day)
  const reach = (state: (typeof Reachability.Encoded)["state"], more: Partial<typeof Reachability.Encoded> = {}) => ({
    state,
    since: now - 50_000,
    origin: "127.0.0.1:8080",
    fault: null,
    http_status: null,
    ...more
  })
  const session = (n: number) => ({
    connected_at: now - (n + 1) * 40_000,
    disconnected_at: n === 0 ? null : now - n * 40_000 - 600,
    bytes_in: 120_000 * (n + 1),
    bytes_out: 7_000_000 * (n + 1)
  })
  const served = { connected: true, sessions: Array.from({ length: 6 }, (_, n) => session(n)) }
  const shares = { uptime: { h24: 100, d7: 99.4, d30: 97.1 } }
  const photos = yield* FactsServer.tunnel("ada", "photos", "photos.zone.example")
  yield* edge.tunnel(photos.token, { ...served, ...shares, figures: figures(today, 3), reach: reach("up") })
  const camera = yield* FactsServer.tunnel("ada", "camera in the garden", "camera.zone.example", true)
  const refused = reach("origin_silent", { fault: "refused" })
  yield* edge.tunnel(camera.token, { ...served, ...shares, figures: figures(today, 1), reach: refused })
  const fresh = yield* FactsServer.tunnel("ada", "a name of nearly sixty characters, as long as one may be")
  yield* FactsServer.tunnel("olga", "from a friend").pipe(
    Effect.flatMap(({ id }) => ask(operator, `/me/tunnels/${id}/grants`, { grantee: "ada" }))
  )
  return { photos: photos.id, camera: camera.id, fresh: fresh.id }
})

const controls = (photos: string, camera: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const own = `/portal/tunnels/${photos}`
    yield* ask(owner, `/me/tunnels/${photos}/grants`, { grantee: "olga" })
    yield* post(owner, `${own}/badge/enable`, {})
    yield* post(owner, `${own}/alert`, { webhook_url: "https://hooks.example/in", threshold_minutes: "5" })
    yield* sql`insert into alert_deliveries (message_id, subject, tunnel_id, event, since, threshold_seconds, at, status, detail)
      values ('m1', 'ada', ${photos}, 'tunnel.down', 1, 300, 1790000000, 'ok', '200'),
        ('m2', 'ada', ${photos}, 'tunnel.up', 1, 300, 1790003600, 'failed', 'connection refused')`
    yield* post(owner, `/portal/tunnels/${camera}/login-allowlist`, { email: "friend@people.example" })
    const shared = yield* ask(owner, `/me/tunnels/${camera}/share-links`, { ttl: "1h", single_use: true })
    for (const email of ["vera@a.example", "hans@b.example"])
      yield* post("anonymous", "/gate/request-access", { host: "camera.zone.example", email, note: "From the club" })
    yield* post(owner, `/portal/tunnels/${camera}/access`, {
      expiry_mode: "none",
      schedule: "1",
      day0: "1",
      day4: "1",
      start: "08:00",
      end: "18:00",
      tz_offset: "60"
    })
    yield* sql`update hosts set claim = 'lapsed', queued_at = null, retry_at = 4102444800, lapses = 1
      where hostname = 'camera.zone.example'`
    yield* sql`update alerts set state = 'down', last_seen_up = null where tunnel_id = ${photos}`
    return { shared: String(shared.body["url"]) }
  })

const channels = Effect.gen(function* () {
  const channel = idOf("furnished")
  const own = account("ada")
  yield* ask(own, "/me/channels", { channel, operator_pubkey: keyOf("furnished") })
  yield* post(owner, `/portal/channels/${channel}/label`, { label: "Support tools" })
  for (const member of ["ada", "ben"])
    yield* ask(own, `/me/channels/${channel}/members`, materialOf(channel, `furnished ${member}`))
  yield* ask(own, `/me/channels/${channel}/allowlist`, { email: "friend@people.example" })
  const soon = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1_000) + 3 * day)
  const grant = grantBy("furnished", channel, "furnished ada", soon)
  yield* ask(own, `/me/channels/${channel}/grants/${keyOf("furnished ada")}`, { grant })
  const minted = yield* ask(own, `/me/channels/${channel}/claim-invites`, materialOf(channel, "furnished invited"))
  const theirs = idOf("furnished of others")
  yield* ask(account("olga"), "/me/channels", { channel: theirs, operator_pubkey: keyOf("furnished other") })
  yield* ask(account("olga"), `/me/channels/${theirs}/allowlist`, { email: "ada@people.example" })
  const claimed = idOf("furnished claimed")
  yield* ask(account("olga"), "/me/channels", { channel: claimed, operator_pubkey: keyOf("furnished other") })
  yield* ask(account("olga"), `/me/channels/${claimed}/allowlist`, { email: "ada@people.example" })
  yield* ask(owner, `/portal/channels/${claimed}/claim`, materialOf(claimed, "furnished claimed"))
  return { channel, theirs, claimed, invite: String(minted.body["invite"]) }
})

const topologies = Effect.gen(function* () {
  const { body } = yield* ask(owner, "/me/topologies", {})
  const id = String(body["id"])
  const agents = ["house", "garden", "office", "boat", "cabin"].map((word) => keyOf(`drawn ${word}`))
  for (const [n, agent] of agents.entries()) {
    yield* ask(owner, `/me/topologies/${id}/agents`, { agent, kind: n === 0 ? "super-peer" : "peer" })
    const label = ["house", "garden", "office", "boat", "cabin"][n] ?? ""
    yield* ask(owner, `/me/topologies/${id}/agents/${agent}/label`, { label }, { method: "PUT" })
    if (n > 0) yield* ask(owner, `/me/topologies/${id}/edges`, { a: agents[0], b: agent })
  }
  yield* post(owner, `/portal/topologies/${id}/name`, { name: "Warehouse" })
  yield* post(owner, `/portal/topologies/${id}/mode`, { mode: "random-mesh" })
  yield* ask(owner, `/me/topologies/${id}/share`, { email: "olga@people.example" })
  return { topology: id, net: String(body["net_uuid"]), agents }
})

/** The address that a mail would hold. */
export const mailed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const token = "5e".repeat(32)
  const hash = hashToken(Redacted.make(token))
  const now = yield* unixSeconds
  yield* sql`insert into mail_accounts values ('ada', true, 'en', 4102444800)`
  yield* sql`insert into notice_mails (id, subject, state, created_at, due_at, unsubscribe_hash)
    values (${"5e".repeat(16)}, 'ada', 'sent', ${now}, ${now}, ${hash})`
  return { unsubscribe: `/portal/unsubscribe?token=${token}` }
})

/** Every request before signed in anew; a person has a few sessions. */
const sessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from portal_sessions where token_hash not in (select token_hash from portal_sessions where subject = 'ada' limit 2)`
  yield* sql`update portal_sessions set user_agent = 'Firefox on Linux'`
})

export const furnished = Effect.gen(function* () {
  const made = yield* tunnels
  const all = {
    ...made,
    ...(yield* controls(made.photos, made.camera)),
    ...(yield* channels),
    ...(yield* topologies),
    ...(yield* mailed)
  }
  yield* sessions
  return all
})
