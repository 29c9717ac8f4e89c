/**
 * The sweep of certificate admission, on a real database.
 * One file, since all cases share one database and one way to fill it.
 */
import { offerSeconds } from "@catenet/domain/certificates/Admission"
import { IssuanceFailure } from "@catenet/domain/certificates/CertificateStanding"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Layer, Redacted, References, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient } from "effect/sql"
import { Admissions } from "../../src/certificates/Admissions.ts"
import { AdmissionSweep, sweepLoop } from "../../src/certificates/AdmissionSweep.ts"
import { Outbox } from "../../src/edges/Outbox.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"
import { Hosts } from "../../src/tunnels/hostnames/Hosts.ts"

const settings = (variables: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const edge = yield* RecordingEdge
      return Settings.layer.pipe(
        Layer.provide(
          ConfigProvider.layer(
            ConfigProvider.fromUnknown({
              CT_CP_DATABASE_URL: Redacted.value(url),
              CT_CP_SEAL_KEY: "5e".repeat(32),
              CT_CP_EDGE_ADMIN_URL: edge.url,
              CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32),
              ...variables
            })
          )
        )
      )
    })
  )

const replica = (
  variables: Readonly<Record<string, string>> = {},
  loop: Layer.Layer<never, never, SecureRandom.SecureRandom | Settings | SqlClient.SqlClient> = Layer.empty
) =>
  Layer.fresh(
    loop.pipe(
      Layer.provideMerge(Layer.mergeAll(AdmissionSweep.layer, Admissions.layer, Hosts.layer, Outbox.layer)),
      Layer.provide(SecureRandom.layerWebCrypto),
      Layer.provideMerge(Database.layerClient),
      Layer.provide(settings(variables))
    )
  ).pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal")))

const server = Layer.mergeAll(TestDatabase.layer, RecordingEdge.layer)

const inDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), PgClient.layer({ url, maxConnections: 1 }))
  )

const now = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))
const tokenOf = (n: number) => n.toString(16).padStart(64, "0")

/** A hostname in the state that its columns say. */
const insert = (n: number, hostname: string, state: Readonly<Record<string, unknown>>) =>
  inDatabase(
    (sql) =>
      sql`insert into hosts ${sql.insert({
        hostname,
        routing_token: tokenOf(n),
        edge_id: "primary",
        authorized_at: 1,
        status: "gelb",
        ...state
      })}`
  )

const read = (like: string) =>
  inDatabase(
    (sql) => sql<{
      hostname: string
      status: string
      claim: string | null
      ca: string | null
      lapses: number
      pending_revert: boolean
    }>`
      select hostname, status, claim, ca, lapses, pending_revert from hosts where hostname like ${like} order by queued_at, hostname`
  )

const tick = Effect.flatMap(AdmissionSweep, (sweep) => sweep.tick())

/** The tick on three replicas at once, some times. */
const together = (times: number, variables: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const replicas = yield* Effect.all([1, 2, 3].map(() => Layer.build(replica(variables))))
    for (let n = 0; n < times; n++) {
      yield* Effect.forEach(replicas, (context) => Effect.provide(tick, context), { concurrency: 3 })
    }
  }).pipe(Effect.scoped)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the sweep of certificate admission", (it) => {
  it.effect("gives each domain its budget and no more, the oldest first, with three replicas at work", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 45; n++) {
        yield* insert(n, `h${String(n).padStart(2, "0")}.full.test`, { claim: "queued", queued_at: 1000 + n })
      }
      for (let n = 45; n < 48; n++) yield* insert(n, `h${n}.free.test`, { claim: "queued", queued_at: 5000 + n })
      yield* together(3)
      const full = yield* read("%.full.test")
      const offered = full.filter(({ claim }) => claim === "offered")
      assert.deepStrictEqual(
        offered.map(({ hostname }) => hostname).sort(),
        Array.from({ length: 40 }, (_, n) => `h${String(n).padStart(2, "0")}.full.test`)
      )
      assert.isTrue(offered.every(({ ca }) => ca === "letsencrypt"))
      assert.strictEqual(full.filter(({ claim }) => claim === "queued").length, 5)
      assert.isTrue((yield* read("%.free.test")).every(({ claim }) => claim === "offered"))

      // With an account at another authority, the rest is offered that one; the first one's week stays counted.
      yield* together(2, { CT_CP_ACME_EAB_ZEROSSL_KID: "kid-1", CT_CP_ACME_EAB_ZEROSSL_HMAC: "c2VjcmV0" })
      const rest = (yield* read("%.full.test")).filter(({ ca }) => ca !== "letsencrypt")
      assert.deepStrictEqual(
        rest.map(({ ca, claim }) => [claim, ca]),
        Array.from({ length: 5 }, () => ["offered", "zerossl"])
      )
      const asked = yield* Effect.provide(
        Effect.flatMap(Admissions, ({ ask }) =>
          ask({ routing_token: Redacted.make(tokenOf(44)), hostname: "h44.full.test" })
        ),
        yield* Layer.build(replica({ CT_CP_ACME_EAB_ZEROSSL_KID: "kid-1", CT_CP_ACME_EAB_ZEROSSL_HMAC: "c2VjcmV0" }))
      )
      assert.deepInclude(asked.assigned_ca, {
        name: "zerossl",
        requires_eab: true,
        eab_kid: "kid-1",
        eab_hmac_key_b64url: "c2VjcmV0"
      })
    })
  )

  it.effect("gives one account a quarter of the zone's budget at most, and another one what it waits for", () =>
    Effect.gen(function* () {
      const zone = { CT_CP_HOSTNAME_ZONE: "shared.test", CT_CP_ACME_CAS: "small https://small.example/d 8" }
      const queued = (n: number, subject: string, name: string, at: number) =>
        Effect.andThen(
          inDatabase(
            (sql) => sql`insert into tunnels (id, subject, name, hostname, created_at, routing_token)
              values (${n.toString(16).padStart(32, "0")}, ${subject}, 'n', ${name}, 1, ${tokenOf(n)})`
          ),
          insert(n, name, { claim: "queued", queued_at: at })
        )
      for (let n = 800; n < 812; n++) yield* queued(n, "greedy", `a${n}.shared.test`, n)
      for (let n = 812; n < 814; n++) yield* queued(n, "greedy", `a${n}.apart.test`, n)
      yield* together(2, zone)
      const offered = Effect.map(read("%.shared.test"), (rows) =>
        rows.filter(({ claim }) => claim === "offered").map(({ hostname }) => hostname)
      )
      assert.deepStrictEqual(yield* offered, ["a800.shared.test", "a801.shared.test"])
      assert.lengthOf(
        (yield* read("%.apart.test")).filter(({ claim }) => claim === "offered"),
        2,
        "a domain of its own"
      )
      // Certificates that were counted stay in the account's share, where its tunnels are gone.
      const { complete } = yield* Effect.provide(Admissions, yield* Layer.build(replica(zone)))
      for (const n of [800, 801])
        yield* complete({ routing_token: Redacted.make(tokenOf(n)), hostname: `a${n}.shared.test` })
      yield* inDatabase((sql) => sql`update issuances set is_seen = true where hostname like '%.shared.test'`)
      yield* inDatabase((sql) => sql`delete from hosts where hostname in ('a800.shared.test', 'a801.shared.test')`)
      yield* queued(820, "other", "b820.shared.test", 9000)
      yield* together(2, zone)
      assert.deepStrictEqual(yield* offered, ["b820.shared.test"])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "offers an authority of the operator's own, with its binding, and still knows those it no longer offers",
    () =>
      Effect.gen(function* () {
        const own = {
          CT_CP_ACME_CAS: "house https://ca.house.example/acme/directory 2",
          CT_CP_ACME_EAB_HOUSE_KID: "kid-2",
          CT_CP_ACME_EAB_HOUSE_HMAC: "c2VjcmV0"
        }
        for (let n = 70; n < 73; n++) yield* insert(n, `h${n}.house.test`, { claim: "queued", queued_at: 1000 + n })
        yield* together(2, own)
        const now = (yield* read("%.house.test")).map(({ ca, claim, hostname }) => `${hostname} ${claim} ${ca}`)
        assert.deepStrictEqual(now.toSorted(), [
          "h70.house.test offered house",
          "h71.house.test offered house",
          "h72.house.test queued null"
        ])
        const described = (hostname: string, n: number, variables: Readonly<Record<string, string>>) =>
          Effect.provide(
            Effect.flatMap(Admissions, ({ ask }) => ask({ routing_token: Redacted.make(tokenOf(n)), hostname })),
            Layer.unwrap(Effect.map(Layer.build(replica(variables)), Layer.succeedContext))
          ).pipe(Effect.map(({ assigned_ca }) => assigned_ca))
        assert.deepInclude(yield* described("h70.house.test", 70, own), {
          name: "house",
          directory_url: "https://ca.house.example/acme/directory",
          requires_eab: true,
          eab_kid: "kid-2",
          eab_hmac_key_b64url: "c2VjcmV0"
        })
        assert.deepInclude(yield* described("h00.full.test", 0, own), { name: "letsencrypt" })
        assert.deepInclude(yield* described("h70.house.test", 70, {}), { name: "letsencrypt" }, "house is gone")
        const again = (yield* read("h70.house.test"))[0]
        assert.deepInclude(again, { ca: "letsencrypt", claim: "offered" }, "the budget counts the other authority")
      }).pipe(Effect.scoped)
  )

  it.effect("gives a gruen name an authority to renew with, where it has none or the one it had is gone", () =>
    Effect.gen(function* () {
      const gruen = { status: "gruen", claim: null }
      yield* insert(500, "own.renew.test", gruen)
      yield* insert(501, "gone.renew.test", { ...gruen, ca: "house" })
      yield* insert(502, "late.renew.test", { claim: "lapsed", retry_at: 9_999_999_999, lapses: 1, ca: "zerossl" })
      const context = yield* Layer.build(replica())
      const { ask, complete } = yield* Effect.provide(Admissions, context)
      const path = (n: number, hostname: string) => ({ routing_token: Redacted.make(tokenOf(n)), hostname })
      for (const [n, hostname] of [
        [500, "own.renew.test"],
        [501, "gone.renew.test"]
      ] as const) {
        const [first, second] = yield* Effect.all([ask(path(n, hostname)), ask(path(n, hostname))], { concurrency: 2 })
        for (const answer of [first, second]) {
          assert.isTrue(answer.may_issue_now)
          assert.deepInclude(answer.assigned_ca, { name: "letsencrypt" })
        }
        assert.deepInclude((yield* read(hostname))[0], { ca: "letsencrypt", status: "gruen" })
      }
      yield* complete(path(502, "late.renew.test"))
      assert.deepInclude((yield* read("late.renew.test"))[0], { ca: "zerossl", status: "gruen" })
      const logged = yield* inDatabase(
        (sql) => sql`select ca, hostname from issuances where hostname like '%.renew.test'`
      )
      assert.deepStrictEqual<unknown>(logged, [{ ca: "zerossl", hostname: "late.renew.test" }])
    }).pipe(Effect.scoped)
  )

  it.effect("assigns the next authority when one fails, once, and none where every other would refuse too", () =>
    Effect.gen(function* () {
      const cas = {
        CT_CP_ACME_CAS: "one https://one.example/d 9, two https://two.example/d 8, three https://three.example/d 7"
      }
      const offered = { claim: "offered", ca: "one", deadline: 9_999_999_999 }
      for (let n = 700; n < 704; n++) yield* insert(n, `h${n}.failing.test`, offered)
      yield* insert(704, "h704.failing.test", { status: "gruen", claim: null, ca: "one" })
      const { fail } = yield* Effect.provide(Admissions, yield* Layer.build(replica(cas)))
      const failure = (n: number, ca: string, reason: IssuanceFailure["reason"], retry_after?: number) =>
        Effect.map(
          fail(
            { routing_token: Redacted.make(tokenOf(n)), hostname: `h${n}.failing.test` },
            IssuanceFailure.make({
              ca,
              reason,
              detail: "said so",
              ...(retry_after === undefined ? {} : { retry_after })
            })
          ),
          ({ assigned_ca, claim_deadline }) => `${assigned_ca?.name} ${claim_deadline}`
        )
      const [first, second] = yield* Effect.all(
        [failure(700, "one", "rate-limited"), failure(700, "one", "rate-limited")],
        {
          concurrency: 2
        }
      )
      assert.deepStrictEqual([first, second], ["two 9999999999", "two 9999999999"], "a repeated report moves on once")
      assert.strictEqual(yield* failure(700, "two", "ca-unavailable", 100_000), "three 9999999999")
      assert.strictEqual(yield* failure(700, "three", "rate-limited"), "three 9999999999", "the others failed too")
      for (const reason of ["caa", "dns", "connection", "rejected"] as const)
        assert.strictEqual(yield* failure(701, "one", reason), "one 9999999999")
      assert.strictEqual(yield* failure(704, "one", "rate-limited"), "two null", "a renewal moves on as well")
      assert.strictEqual(yield* failure(702, "other", "rate-limited"), "one 9999999999", "it was not asked")
      const kept = yield* inDatabase(
        (sql) => sql`select hostname, ca, reason, detail, (retry_at - at)::int as pause from issuance_failures
          where hostname like '%.failing.test' order by hostname, ca`
      )
      assert.deepStrictEqual<unknown>(kept, [
        { hostname: "h700.failing.test", ca: "one", reason: "rate-limited", detail: "said so", pause: 3600 },
        { hostname: "h700.failing.test", ca: "three", reason: "rate-limited", detail: "said so", pause: 3600 },
        { hostname: "h700.failing.test", ca: "two", reason: "ca-unavailable", detail: "said so", pause: 86_400 },
        { hostname: "h701.failing.test", ca: "one", reason: "rejected", detail: "said so", pause: 3600 },
        { hostname: "h704.failing.test", ca: "one", reason: "rate-limited", detail: "said so", pause: 3600 }
      ])

      // A place in the queue that comes round again leaves them out, too.
      yield* inDatabase(
        (sql) =>
          sql`update hosts set claim = 'queued', queued_at = 1, deadline = null where hostname = 'h701.failing.test'`
      )
      yield* together(1, cas)
      assert.deepInclude((yield* read("h701.failing.test"))[0], { claim: "offered", ca: "two" })
    }).pipe(Effect.scoped)
  )

  it.effect("lets no name leave the edge whose visitors it has to hold back", () =>
    Effect.gen(function* () {
      const rules = [
        { require_login: true, options: PgTypes.jsonb({}) },
        { require_login: false, options: PgTypes.jsonb({ http_only: true }) },
        { require_login: false, options: PgTypes.jsonb({}) }
      ]
      for (const [n, rule] of rules.entries())
        for (const [at, claim] of [
          { claim: "queued", queued_at: 1 },
          { status: "rot", claim: null },
          { claim: "offered", ca: "letsencrypt", deadline: 9_999_999_999 }
        ].entries()) {
          const id = 600 + 10 * n + at
          const hostname = `h${id}.guarded.test`
          yield* inDatabase(
            (sql) =>
              sql`insert into tunnels ${sql.insert({
                id: id.toString(16).padStart(32, "0"),
                subject: "s",
                name: "n",
                hostname,
                routing_token: tokenOf(id),
                created_at: 1,
                ...rule
              })}`
          )
          yield* insert(id, hostname, claim)
        }
      yield* together(2)
      const claims = (yield* read("%.guarded.test")).map(({ claim, hostname }) => `${hostname.slice(0, 4)} ${claim}`)
      assert.sameMembers(claims, [
        "h600 queued",
        "h601 queued",
        "h602 offered",
        "h610 queued",
        "h611 queued",
        "h612 offered",
        "h620 offered",
        "h621 offered",
        "h622 offered"
      ])
      const { ask, mayIssue } = yield* Effect.provide(Admissions, yield* Layer.build(replica()))
      for (const [id, expected] of [
        [602, false],
        [612, false],
        [622, true]
      ] as const) {
        const path = { routing_token: Redacted.make(tokenOf(id)), hostname: `h${id}.guarded.test` }
        const { assigned_ca, may_issue_now } = yield* ask(path)
        assert.deepStrictEqual([may_issue_now, assigned_ca !== null], [expected, expected])
        const token = yield* Schema.decodeEffect(RoutingToken)(tokenOf(id))
        assert.strictEqual(yield* mayIssue(token, Hostname.make(path.hostname)), expected)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("answers no deadline that has passed", () =>
    Effect.gen(function* () {
      yield* insert(510, "past.deadline.test", { claim: "offered", ca: "letsencrypt", deadline: (yield* now) - 1 })
      const { ask } = yield* Effect.provide(Admissions, yield* Layer.build(replica()))
      const answer = yield* ask({ routing_token: Redacted.make(tokenOf(510)), hostname: "past.deadline.test" })
      assert.deepInclude(answer, { may_issue_now: false, assigned_ca: null, claim_deadline: null })
    }).pipe(Effect.scoped)
  )

  it.effect("counts what was issued in the last seven days, and no longer", () =>
    Effect.gen(function* () {
      const at = yield* now
      for (const [domain, age] of [
        ["spent.test", 604_000],
        ["over.test", 604_900]
      ] as const) {
        yield* inDatabase(
          (sql) => sql`insert into issuances (ca, domain, hostname, at, is_seen)
            select 'letsencrypt', ${domain}, 'x', ${at - age}, true from generate_series(1, 40)`
        )
        yield* insert(100, `a.${domain}`, { claim: "queued", queued_at: 1 })
      }
      yield* together(1)
      assert.deepInclude((yield* read("a.spent.test"))[0], { claim: "queued" })
      assert.deepInclude((yield* read("a.over.test"))[0], { claim: "offered" })
    })
  )

  it.effect("ends offers that no agent took, once, and offers them again after the back-off", () =>
    Effect.gen(function* () {
      const at = yield* now
      yield* insert(200, "a.late.test", { claim: "offered", ca: "letsencrypt", deadline: at - 1, lapses: 2 })
      yield* insert(201, "b.late.test", { claim: "offered", ca: "letsencrypt", deadline: at + 3600 })
      yield* insert(202, "c.late.test", { claim: "lapsed", retry_at: at - 1, lapses: 1 })
      yield* insert(203, "d.late.test", { claim: "lapsed", retry_at: at + 3600, lapses: 1 })
      yield* insert(204, "e.late.test", { claim: "queued", queued_at: 1 })
      yield* inDatabase((sql) => sql`insert into revoked_tokens values (${tokenOf(204)}, 1)`)
      yield* together(3)
      assert.deepStrictEqual(
        (yield* read("%.late.test")).map(({ claim, hostname, lapses }) => [hostname, claim, lapses]).sort(),
        [
          ["a.late.test", "lapsed", 3],
          ["b.late.test", "offered", 0],
          ["c.late.test", "offered", 1],
          ["d.late.test", "lapsed", 1],
          ["e.late.test", "queued", 0]
        ]
      )
    })
  )

  it.effect("tells the edge about gelb once, and believes that it has what left the outbox", () =>
    Effect.gen(function* () {
      const edge = yield* RecordingEdge
      yield* insert(300, "new.ordered.test", { status: "rot", claim: null })
      yield* insert(301, "own.ordered.test", { status: "gruen", claim: null, pending_revert: true })
      const gruen = { status: "gruen", claim: null, pending_revert: true }
      yield* insert(302, "soon.ordered.test", gruen)
      yield* insert(303, "again.ordered.test", gruen)
      const order = JSON.stringify({ _tag: "AuthorizeHost", hostname: "x.test", tier: "passthrough" })
      const at = yield* now
      yield* inDatabase(
        (sql) => sql`insert into outbox (queue, call, created_at, due_at, refused_at, refusal) values
          (${tokenOf(302)}, ${order}::jsonb, 1, ${at + 3600}, null, null),
          (${tokenOf(303)}, ${order}::jsonb, 1, 1, ${at - 30_000}, 'it answered 400')`
      )
      yield* together(3)
      assert.deepInclude((yield* read("new.ordered.test"))[0], { status: "gelb", claim: "offered" })
      const pending = (yield* read("%.ordered.test")).filter((row) => row.pending_revert)
      assert.deepStrictEqual(pending.map(({ hostname }) => hostname).sort(), [
        "again.ordered.test",
        "soon.ordered.test"
      ])

      const context = yield* Layer.build(replica())
      yield* Effect.provide(
        Effect.flatMap(Outbox, ({ deliverAll }) => deliverAll),
        context
      )
      yield* together(1)
      const [path = "", until = 0] = (yield* edge.about(tokenOf(300), 1))[0]?.path.split("&admission_until=") ?? []
      assert.match(path, /new\.ordered\.test\?channel_tier=gelb$/)
      assert.approximately(Number(until), at + offerSeconds, 60)
      assert.match((yield* edge.about(tokenOf(303), 1))[0]?.path ?? "", /again\.ordered\.test$/)
      assert.lengthOf(
        edge.orders.filter(({ path }) => path.includes(".ordered.test")),
        2
      )
      const left = (yield* read("%.ordered.test")).filter((row) => row.pending_revert)
      assert.deepStrictEqual(
        left.map(({ hostname }) => hostname),
        ["soon.ordered.test"]
      )
    })
  )

  it.effect("runs by itself only where it is enabled", () =>
    Effect.gen(function* () {
      yield* insert(400, "a.loop.test", { claim: "queued", queued_at: 1 })
      const isOffered = Effect.map(read("a.loop.test"), ([row]) => row?.claim === "offered")
      yield* Effect.scoped(Effect.andThen(Layer.build(replica({}, sweepLoop)), Effect.yieldNow))
      assert.isFalse(yield* isOffered)
      yield* Layer.build(replica({ CT_CP_ACME_BROKER_ENABLED: "1" }, sweepLoop))
      yield* until(isOffered, (offered) => offered)
    })
  )
})
