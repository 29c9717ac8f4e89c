/**
 * Another authority for a hostname that may issue, where the one it was assigned is not configured any more or failed, or it
 * never had one. The budgets decide as the sweep lets them, under the sweep's lock, so that both count the same.
 */
import { type AdmissionState, reassign, view } from "@catenet/domain/certificates/Admission"
import { allocate, budgetWindow, registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { type IssuanceFailure, leftOutUntil, movesOn } from "@catenet/domain/certificates/CertificateStanding"
import type { Hostname } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { HostnameRules } from "../tunnels/hostnames/HostnameRules.ts"
import { Hosts } from "../tunnels/hostnames/Hosts.ts"
import { accountOf, isCounted } from "../tunnels/hostnames/HostStore.ts"
import { sweepLock } from "./AdmissionSweepStore.ts"
import { CertificateAuthorities } from "./CertificateAuthorities.ts"

const Counted = Schema.Struct({ domain: Schema.String, now: Schema.Int })

const dependencies = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const hosts = yield* Hosts
  const { zone } = yield* HostnameRules
  const account = accountOf(sql, zone)
  const { describe, offerable } = yield* CertificateAuthorities
  const given = SqlSchema.findAll({
    Request: Counted,
    Result: Schema.Struct({
      ca: Schema.String,
      domain: Schema.String,
      account: Schema.NullOr(Schema.String),
      at: Schema.Int
    }),
    execute: ({ domain, now }) =>
      sql`select ca, domain, case when domain = ${zone ?? ""} then account end as account, at from issuances i
        where domain = ${domain} and at > ${now - budgetWindow} and ${isCounted(sql, now)}`
  })
  const open = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ ca: Schema.String, domain: Schema.String, account: Schema.NullOr(Schema.String) }),
    execute: (domain) =>
      sql`select ca, domain, ${account} as account from hosts h where claim = 'offered' and domain = ${domain}`
  })

  const ownerOf = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({ account: Schema.NullOr(Schema.String) }),
    execute: (hostname) => sql`select ${account} as account from hosts h where h.hostname = ${hostname}`
  })

  const leftOut = SqlSchema.findAll({
    Request: Schema.Struct({ hostname: Schema.String, now: Schema.Int }),
    Result: Schema.Struct({ ca: Schema.String }),
    execute: ({ hostname, now }) =>
      sql`select ca from issuance_failures where hostname = ${hostname} and retry_at > ${now}`
  })
  return { describe, given, hosts, leftOut, offerable, open, ownerOf, sql }
})
type State = Effect.Success<typeof dependencies>

const isKnown = ({ describe }: State, ca: string | null) => ca !== null && describe(ca) !== null

/** The authority with the most head-room for the hostname; call it under the lock. */
const best = Effect.fnUntraced(function* (
  { given, leftOut, offerable, open, ownerOf }: State,
  hostname: Hostname,
  now: number
) {
  const domain = registeredDomain(hostname)
  const owned = <A extends { readonly account: string | null }>(rows: ReadonlyArray<A>) =>
    rows.map((row) => ({ ...row, account: row.account ?? undefined }))
  const issuances = owned(yield* given({ domain, now }))
  const owner = yield* ownerOf(hostname)
  const failed = (yield* leftOut({ hostname, now })).map(({ ca }) => ca)
  const [found] = allocate(
    offerable,
    [{ hostname, queuedAt: now, leftOut: failed, account: Option.getOrUndefined(owner)?.account ?? undefined }],
    issuances,
    owned(yield* open(domain)),
    now
  )
  return found?.ca
})

/** The hostname and the time, with the lock of the sweep. */
const locked = Effect.fnUntraced(function* ({ hosts, sql }: State, hostname: Hostname) {
  yield* sql`select pg_advisory_xact_lock(${sweepLock})`
  return { host: yield* hosts.find(hostname, { lock: true }), now: yield* unixSeconds }
})

const choose = Effect.fnUntraced(
  function* (state: State, hostname: Hostname) {
    const { host, now } = yield* locked(state, hostname)
    if (Option.isNone(host)) return null
    const { admission } = host.value
    const { ca, mayIssueNow } = view(admission, now)
    if (!mayIssueNow || isKnown(state, ca)) return ca
    const chosen =
      (yield* best(state, hostname, now)) ?? (admission._tag === "Gruen" ? state.offerable[0]?.name : undefined)
    if (chosen === undefined) return null
    yield* state.hosts.step(host.value, (state) => Result.succeed(reassign(state, chosen)))
    return chosen
  },
  (self, state) => state.hosts.transaction(self)
)

const giveBack = Effect.fnUntraced(
  function* (state: State, hostname: Hostname, failure: IssuanceFailure) {
    const { ca, detail = null, reason, retry_after } = failure
    const { host, now } = yield* locked(state, hostname)
    if (Option.isNone(host) || view(host.value.admission, now).ca !== ca) return
    const row = { hostname, ca, reason, detail, at: now, retry_at: leftOutUntil(retry_after, now) }
    yield* state.sql`insert into issuance_failures ${state.sql.insert(row)}
    on conflict (hostname, ca) do update set ${state.sql.update(row, ["hostname", "ca"])}`
    if (!movesOn(reason)) return
    const next = yield* best(state, hostname, now)
    if (next !== undefined) yield* state.hosts.step(host.value, (state) => Result.succeed(reassign(state, next)))
  },
  (self, state) => state.hosts.transaction(self)
)

const settle = Effect.fn("CaSelection.settle")(function* (state: State, hostname: Hostname, admission: AdmissionState) {
  const { ca } = view(admission, yield* unixSeconds)
  return isKnown(state, ca) ? ca : yield* choose(state, hostname)
})

export class CaSelection extends Context.Service<
  CaSelection,
  {
    /**
     * The authority of the hostname's state. One that is missing is chosen and stored first; null where no authority can be
     * offered. A gruen hostname renews in any case, so an open budget is no condition there.
     */
    readonly settle: (
      hostname: Hostname,
      state: AdmissionState
    ) => Effect.Effect<string | null, Schema.SchemaError | SqlError.SqlError>
    /** An authority gave no certificate. Where another one may, and has an open budget, it takes its place at once. */
    readonly giveBack: (
      hostname: Hostname,
      failure: IssuanceFailure
    ) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/certificates/CaSelection") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { settle }),
    giveBack: Effect.fn("CaSelection.giveBack")((hostname, failure) => giveBack(state, hostname, failure))
  }))

  static readonly layer = Layer.effect(CaSelection, CaSelection.make).pipe(
    Layer.provide([CertificateAuthorities.layer, HostnameRules.layer, Hosts.layer])
  )
}
