/**
 * The sweep over a whole platform in PostgreSQL decides what the pure machine decides that sees all of it. `CATENET_NAMES` says over
 * how many hostnames.
 */
import type { AdmissionState } from "@catenet/domain/certificates/Admission"
import { sweep } from "@catenet/domain/certificates/AdmissionSweep"
import { budgetWindow } from "@catenet/domain/certificates/CertificateBudget"
import { IssuanceFailure } from "@catenet/domain/certificates/CertificateStanding"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Array as Arr, Clock, ConfigProvider, Duration, Effect, Fiber, Layer, Redacted, References } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient, type SqlError } from "effect/sql"
import { Admissions } from "../../src/certificates/Admissions.ts"
import { AdmissionSweep } from "../../src/certificates/AdmissionSweep.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"
import * as Generator from "../fuzz/Generator.ts"

const count = Number(process.env["CATENET_NAMES"] ?? 600)
const budgets = [
  { name: "one", weeklyBudget: 40 },
  { name: "two", weeklyBudget: 7 }
]
const authorities = budgets.map((each) => ({
  ...each,
  directoryUrl: `https://${each.name}.example/d`,
  requiresEab: false
}))
const hour = 3600
/** Names beside those, of which agents ask. */
const agents = 200
const tokenOf = (n: number) => n.toString(16).padStart(64, "0")

const settings = Layer.unwrap(
  Effect.map(TestDatabase, ({ url }) =>
    Settings.layer.pipe(
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            CT_CP_DATABASE_URL: Redacted.value(url),
            CT_CP_SEAL_KEY: "5e".repeat(32),
            CT_CP_EDGE_ADMIN_URL: "http://127.0.0.1:1",
            CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32),
            CT_CP_ACME_CAS: authorities.map((ca) => `${ca.name} ${ca.directoryUrl} ${ca.weeklyBudget}`).join(", ")
          })
        )
      )
    )
  )
)

/** A service of a replica of its own. */
const replica = <A, E, R>(service: Layer.Layer<A, E, R>) =>
  Layer.fresh(
    service.pipe(
      Layer.provide(SecureRandom.layerWebCrypto),
      Layer.provide(Database.layerClient),
      Layer.provide(settings),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal"))
    )
  )

/** What agents ask and report while the sweep is at work, one after the other, and the milliseconds that each took. */
const agentsDuring = Effect.fnUntraced(
  function* (tick: Effect.Effect<unknown>) {
    const { ask, complete, fail } = yield* Effect.provide(Admissions, yield* Layer.build(replica(Admissions.layer)))
    const path = (n: number) => ({ routing_token: Redacted.make(tokenOf(count + n)), hostname: `own${n}.agents.test` })
    const failure = IssuanceFailure.make({ ca: "one", reason: "caa" })
    const millis: Array<number> = []
    const calls = [(n: number) => ask(path(n)), (n: number) => fail(path(n), failure), (n: number) => complete(path(n))]
    for (const call of calls) yield* call(0)
    const sweeping = yield* Effect.forkChild(tick)
    for (let n = 1; sweeping.pollUnsafe() === undefined; n = (n % (agents - 1)) + 1) {
      for (const call of calls) {
        const began = performance.now()
        yield* call(n)
        millis.push(performance.now() - began)
      }
    }
    yield* Fiber.join(sweeping)
    return millis.toSorted((a, b) => a - b)
  },
  Effect.scoped,
  Effect.provideService(References.MinimumLogLevel, "Fatal")
)

/** Anything that a name can be, long enough before or after now. */
const stateOf = (random: ReturnType<typeof Generator.random>, now: number): AdmissionState => {
  const [before, after] = [now - hour - random.below(200 * hour), now + hour + random.below(40 * hour)]
  const lapses = random.below(4)
  const { name: ca } = random.pick(budgets)
  switch (random.below(12)) {
    case 0:
      return { _tag: "Rot" }
    case 1:
      return { _tag: "Gruen", ca, pendingRevert: false, loggedAt: before }
    case 2:
      return { _tag: "Gelb", slot: { _tag: "Offered", ca, deadline: after, lapses } }
    case 3:
      return { _tag: "Gelb", slot: { _tag: "Offered", ca, deadline: before, lapses } }
    case 4:
      return { _tag: "Gelb", slot: { _tag: "Lapsed", retryAt: after, lapses: lapses + 1, ca } }
    case 5:
      return { _tag: "Gelb", slot: { _tag: "Lapsed", retryAt: before, lapses: lapses + 1, ca } }
    default:
      return { _tag: "Gelb", slot: { _tag: "Queued", queuedAt: before, lapses, ca: null } }
  }
}

const none = { claim: null, ca: null, deadline: null, retry_at: null, queued_at: null, lapses: 0 }

const columnsOf = (state: AdmissionState) => {
  if (state._tag === "Rot") return { status: "rot", ...none }
  if (state._tag === "Gruen") return { status: "gruen", ...none, ca: state.ca }
  const { slot } = state
  const { lapses } = slot
  const shared = { status: "gelb", ...none, ca: slot.ca, lapses }
  switch (slot._tag) {
    case "Queued":
      return { ...shared, claim: "queued", queued_at: slot.queuedAt }
    case "Offered":
      return { ...shared, claim: "offered", deadline: slot.deadline }
    case "Lapsed":
      return { ...shared, claim: "lapsed", retry_at: slot.retryAt }
  }
}

interface Short {
  readonly status: string
  readonly claim: string | null
  readonly ca: string | null
  readonly lapses: number
}

/** What the tick is judged by; the moment of it is its own. */
const shortOf = ({ ca, claim, lapses, status }: Short) => `${status} ${claim} ${ca} ${lapses}`

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("the sweep over many names", (it) => {
  it.effect(`decides about ${count} as the machine does that sees them all, and then nothing more`, () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const random = Generator.random(16)
      // Two crowds and many small domains.
      const domainOf = (n: number) => (n % 3 === 0 ? `crowd${n % 2}.test` : `d${n % Math.ceil(count / 20)}.test`)
      const names = Array.from({ length: count }, (_, n) => ({
        n,
        hostname: `h${n}.${domainOf(n)}`,
        state: stateOf(random, now),
        leftOut: random.below(15) === 0 ? ["one"] : []
      }))
      const issuances = Array.from({ length: Math.ceil(count / 4) }, () => ({
        ca: random.pick(budgets).name,
        domain: domainOf(random.below(count)),
        hostname: "x.test",
        at: now - hour - random.below(Math.ceil(budgetWindow * 1.5))
      })).filter(({ at }) => Math.abs(now - at - budgetWindow) > hour)

      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        type Row = Record<string, string | number | null>
        const many = (
          rows: ReadonlyArray<Row>,
          write: (some: Arr.NonEmptyReadonlyArray<Row>) => Effect.Effect<unknown, SqlError.SqlError>
        ) =>
          Effect.forEach(Arr.chunksOf(rows, 500), (some) => (Arr.isArrayNonEmpty(some) ? write(some) : Effect.void), {
            discard: true
          })
        yield* many(
          names.map(({ hostname, n, state }) =>
            Object.assign(columnsOf(state), {
              hostname,
              routing_token: tokenOf(n),
              edge_id: "primary",
              authorized_at: 1
            })
          ),
          (some) => sql`insert into hosts ${sql.insert(some)}`
        )
        yield* many(
          Array.from({ length: agents }, (_, n) => ({
            status: "gelb",
            claim: "offered",
            ca: "one",
            deadline: now + 99_999,
            hostname: `own${n}.agents.test`,
            routing_token: tokenOf(count + n),
            edge_id: "primary",
            authorized_at: 1
          })),
          (some) => sql`insert into hosts ${sql.insert(some)}`
        )
        yield* many(issuances, (some) => sql`insert into issuances ${sql.insert(some)}`)
        yield* sql`update issuances set is_seen = true`
        const failedOf = (hostname: string) => ({
          hostname,
          ca: "one",
          reason: "rate-limited",
          detail: null,
          at: now,
          retry_at: now + 99_999
        })
        yield* many(
          names.flatMap(({ hostname, leftOut }) => (leftOut.length > 0 ? [failedOf(hostname)] : [])),
          (some) => sql`insert into issuance_failures ${sql.insert(some)}`
        )

        const candidates = names.map(({ hostname, leftOut, state }) => ({
          hostname,
          leftOut,
          state,
          authorized: true,
          isGuarded: false
        }))
        const decided = new Map<string, AdmissionState>(
          sweep(candidates, issuances, authorities, now).map(({ hostname, next }) => [hostname, next])
        )
        const expected = names.map(
          ({ hostname, state }) => `${hostname} ${shortOf(columnsOf(decided.get(hostname) ?? state))}`
        )
        const context = yield* Layer.build(replica(AdmissionSweep.layer))
        const tick = Effect.provide(
          Effect.flatMap(AdmissionSweep, (each) => each.tick()),
          context
        )
        let took = 0
        const timed = Effect.map(Effect.timed(tick), ([duration]) => void (took = Duration.toMillis(duration)))
        const waited = yield* agentsDuring(timed)
        const rows = yield* sql<Short & { readonly hostname: string }>`
          select hostname, status, claim, ca, lapses from hosts where domain <> 'agents.test'`
        assert.deepStrictEqual(rows.map((row) => `${row.hostname} ${shortOf(row)}`).toSorted(), expected.toSorted())
        assert.isAbove(
          [...decided.values()].filter((state) => state._tag === "Gelb" && state.slot._tag === "Offered").length,
          0
        )
        assert.strictEqual(yield* tick, 0, "what is decided is not decided again")
        const p99 = waited[Math.floor(waited.length * 0.99)] ?? 0
        yield* Effect.logInfo(
          `a tick over ${count} hostnames took ${Math.round(took)} ms; of ${waited.length} calls of agents meanwhile the ` +
            `median took ${Math.round(waited[Math.floor(waited.length / 2)] ?? 0)} ms, p99 ${Math.round(p99)} ms`
        )
        assert.isAbove(waited.length, 2, "agents are answered while the sweep is at work")
        // Of a short tick there are too few for a figure.
        if (count >= 10_000) assert.isBelow(p99, 200)
      }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 2 })), Effect.scoped)
    })
  )
})
