import { hold, row } from "@catenet/testing/server/Contract"
import { keyName, NameServer, secret } from "@catenet/testing/server/dns/NameServer"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const server = Layer.unwrap(
  Effect.map(NameServer, ({ port }) =>
    TestServer.layer({
      CT_CP_DNS_UPDATE_SERVER: `127.0.0.1:${port}`,
      CT_CP_DNS_UPDATE_ZONE: "example.test",
      CT_CP_DNS_UPDATE_KEY_NAME: keyName,
      CT_CP_DNS_UPDATE_KEY: secret.toString("base64")
    })
  )
).pipe(Layer.provideMerge(Layer.mergeAll(NameServer.layer, TestIssuer.layer)))

const hostname = "own.example.test"
const queuedName = "queued.example.test"
const outside = "own.elsewhere.test"
const broughtName = "brought.example.test"

const provision = (name: string) =>
  Effect.flatMap(
    TestServer.raw("/admin/provision-tunnel", {
      method: "POST",
      headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
      body: JSON.stringify({ subject: "s", name: "n", hostname: name })
    }),
    (response) => Effect.promise(() => response.json() as Promise<{ readonly routing_token: string }>)
  )

/** As if the tunnel's owner had brought the name and proved it just now. */
const brought = (name: string) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(
      SqlClient.SqlClient.use(
        (sql) => sql`insert into hostname_claims (tunnel_id, hostname, proved_at, checked_at)
          select id, hostname, extract(epoch from now())::bigint, extract(epoch from now())::bigint
          from tunnels where hostname = ${name}`
      ),
      PgClient.layer({ url, maxConnections: 1 })
    )
  )

const offer = (name: string) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(
      SqlClient.SqlClient.use(
        (sql) => sql`update hosts set claim = 'offered', queued_at = null, ca = 'letsencrypt', deadline = 9999999999
          where hostname = ${name}`
      ),
      PgClient.layer({ url, maxConnections: 1 })
    )
  )

const authority = {
  name: "letsencrypt",
  directory_url: "https://acme-v02.api.letsencrypt.org/directory",
  requires_eab: false,
  eab_kid: null,
  eab_hmac_key_b64url: null
}
const standing = {
  status: "gelb",
  place: null,
  held_back: null,
  claim_deadline: null,
  queues_again_at: null,
  step: null,
  step_since: null,
  failure: null
}
const queued = { status: "gelb", may_issue_now: false, assigned_ca: null, claim_deadline: null }
const offered = { status: "gelb", may_issue_now: true, assigned_ca: authority, claim_deadline: 9_999_999_999 }
const done = { status: "gruen", may_issue_now: true, assigned_ca: authority, claim_deadline: null }

const elsewhere = "DnsChallenges.test.ts, whose servers behave that way, has it"
const proved = "ProvedCalls.test.ts asks every route with an enrolled key, and without"
const calls = [
  "admission",
  "issuanceComplete",
  "issuanceFailed",
  "standing",
  "issuanceProgress",
  "setChallenge",
  "clearChallenge"
]

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("certificate admission", (it) => {
  it.effect("holds its contract", () =>
    Effect.gen(function* () {
      const { routing_token } = yield* provision(hostname)
      const waiting = yield* provision(queuedName)
      const other = yield* provision(outside)
      yield* offer(hostname)
      yield* offer(outside)
      const own = { routing_token, hostname }
      const mine = yield* provision(broughtName)
      yield* brought(broughtName)
      yield* offer(broughtName)
      const brokered = { token: mine.routing_token, hostname: broughtName, value: "v" }
      const inQueue = { routing_token: waiting.routing_token, hostname: queuedName }
      const foreign = { routing_token: "ab".repeat(32), hostname }
      const body = { token: routing_token, hostname, value: "v" }
      const early = { token: waiting.routing_token, hostname: queuedName, value: "v" }
      const failure = { ca: "letsencrypt", reason: "rate-limited", detail: "too many certificates", retry_after: 60 }
      const progress = { step: "ordering", agent: "ab".repeat(8) }
      const notOurZone = { token: other.routing_token, hostname: outside, value: "v" }
      const unknown = { ...body, hostname: "no.test" }
      yield* hold(
        "admission",
        "anonymous",
        [
          row("admission", 200, { at: inQueue, answer: queued }),
          row("admission", 200, { at: own, answer: offered }),
          row("admission", "403 NotHostnameOwner", { at: foreign }),
          row("admission", "403 NotHostnameOwner", { at: { routing_token: "zz", hostname } }),
          row("admission", "404 HostnameUnknown", { at: { ...own, hostname: "no.test" } }),
          row("setChallenge", "425 NotAdmitted", { body: early }),
          row("setChallenge", "404 HostnameUnknown", { body: unknown }),
          row("setChallenge", "403 NotHostnameOwner", { body: { ...body, token: "ab".repeat(32) } }),
          row("setChallenge", "502 DnsProviderFailed", { body: notOurZone }),
          row("setChallenge", "403 ChallengeNotBrokered", { body: brokered }),
          row("clearChallenge", "403 ChallengeNotBrokered", { body: brokered }),
          row("setChallenge", 200, { body }),
          row("setChallenge", 200, { body: { ...body, value: "w" }, because: "it replaces the value" }),
          row("clearChallenge", "403 NotHostnameOwner", { body: unknown }),
          row("clearChallenge", "502 DnsProviderFailed", { body: notOurZone }),
          row("clearChallenge", 200, { body }),
          row("clearChallenge", 200, { body, because: "it is not there any more" }),
          row("issuanceFailed", "403 NotHostnameOwner", { at: foreign, body: failure }),
          row("issuanceFailed", "404 HostnameUnknown", { at: { ...own, hostname: "no.test" }, body: failure }),
          row("issuanceFailed", "422 WrongShape", { at: own, body: { ...failure, reason: "bored" } }),
          row("issuanceFailed", 200, { at: own, body: failure, answer: offered, because: "no other has budget" }),
          row("standing", 200, { at: inQueue, answer: { ...standing, place: 1 } }),
          row("standing", "403 NotHostnameOwner", { at: foreign }),
          row("standing", "404 HostnameUnknown", { at: { ...own, hostname: "no.test" } }),
          row("issuanceProgress", 200, { at: own, body: progress, answer: { yours: true } }),
          row("issuanceProgress", 200, {
            at: own,
            body: { ...progress, agent: "00".repeat(8) },
            answer: { yours: false },
            because: "another agent of the tunnel is in an order"
          }),
          row("issuanceProgress", "422 WrongShape", { at: own, body: { ...progress, step: "bored" } }),
          row("issuanceProgress", "403 NotHostnameOwner", { at: foreign, body: progress }),
          row("issuanceProgress", "404 HostnameUnknown", { at: { ...own, hostname: "no.test" }, body: progress }),
          row("issuanceComplete", "403 NotHostnameOwner", { at: foreign }),
          row("issuanceComplete", "403 NotHostnameOwner", { at: { ...own, hostname: "no.test" } }),
          row("issuanceComplete", 200, { at: own }),
          row("issuanceComplete", 200, { at: own, because: "it is a renewal" }),
          row("admission", 200, { at: own, answer: done })
        ],
        {
          ...Object.fromEntries(calls.map((call) => [`${call} AgentProofRequired`, proved])),
          "issuanceComplete HostnameGuarded": proved,
          ...Object.fromEntries(
            ["BodyTooLarge", "MalformedRequest", "UnsupportedMediaType", "WrongShape"].map((code) => [
              `issuanceComplete ${code}`,
              "any body but a chain is taken for none; see IssuanceBudget.test.ts"
            ])
          ),
          "setChallenge ChallengeNotDelegated": elsewhere,
          "setChallenge DnsBusy": elsewhere,
          "setChallenge DnsNotConverged": elsewhere
        }
      )
    })
  )
})
