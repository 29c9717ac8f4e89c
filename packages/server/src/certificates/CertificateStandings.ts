/** Where hostnames stand on their way to a certificate: what their agents say, and what people read of it. One statement each. */
import { HostnameUnknown, type NotHostnameOwner } from "@catenet/domain/certificates/AdmissionErrors"
import {
  CertificateStanding,
  IssuanceFailure,
  type IssuanceProgress,
  IssuanceStep,
  IssuanceTurn,
  stepSeconds
} from "@catenet/domain/certificates/CertificateStanding"
import { TunnelStatus } from "@catenet/domain/tunnels/Tunnel"
import { Count, UnixSeconds } from "@catenet/domain/values/Numbers"
import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { isGuarded } from "../tunnels/hostnames/HostStore.ts"
import { Admissions } from "./Admissions.ts"

/** The routing token is the secret of the path. */
interface Path {
  readonly routing_token: Redacted.Redacted
  readonly hostname: string
}

const Row = Schema.Struct({
  hostname: Schema.String,
  status: TunnelStatus,
  place: Schema.NullOr(Count),
  optedOut: Schema.Boolean,
  isGuarded: Schema.Boolean,
  deadline: Schema.NullOr(UnixSeconds),
  retryAt: Schema.NullOr(UnixSeconds),
  step: Schema.NullOr(IssuanceStep),
  stepSince: Schema.NullOr(UnixSeconds),
  ca: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(IssuanceFailure.fields.reason),
  detail: Schema.NullOr(Schema.String),
  failedAt: Schema.NullOr(UnixSeconds)
})

const Step = Schema.Struct({
  hostname: Schema.String,
  agent: Schema.String,
  step: IssuanceStep,
  at: Schema.Int
})

const standingOf = ({ ca, deadline, detail, failedAt, optedOut, reason, ...row }: typeof Row.Type) =>
  new CertificateStanding({
    status: row.status,
    place: row.place,
    held_back: row.status !== "gelb" ? null : optedOut ? "declined" : row.isGuarded ? "guarded" : null,
    claim_deadline: deadline,
    queues_again_at: row.retryAt,
    step: row.step,
    step_since: row.stepSince,
    failure: ca === null || reason === null || failedAt === null ? null : { ca, reason, detail, at: failedAt }
  })

export class CertificateStandings extends Context.Service<
  CertificateStandings,
  {
    /** Of those hostnames that are recorded as owned. */
    readonly of: (hostnames: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, CertificateStanding>>
    /** As the agent of the hostname asks for it. */
    readonly ask: (path: Path) => Effect.Effect<CertificateStanding, HostnameUnknown | NotHostnameOwner>
    /** An agent says what it does; the answer is whether it is its turn among the agents of the tunnel. */
    readonly record: (
      path: Path,
      progress: IssuanceProgress
    ) => Effect.Effect<IssuanceTurn, HostnameUnknown | NotHostnameOwner>
  }
>()("server/certificates/CertificateStandings") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { owned } = yield* Admissions
    const find = SqlSchema.findAll({
      Request: Schema.Struct({ hostnames: Schema.Array(Schema.String), now: Schema.Int }),
      Result: Row,
      execute: ({ hostnames, now }) => sql`
        select h.hostname, h.status, h.opted_out, ${isGuarded(sql)} as is_guarded, h.deadline, h.retry_at,
          case when h.claim = 'queued' then 1 + (select count(*)::int from hosts o where o.claim = 'queued'
            and o.domain = h.domain and not o.opted_out
            and (o.queued_at, o.hostname) < (h.queued_at, h.hostname)) end as place,
          p.step, p.at as step_since, f.ca, f.reason, f.detail, f.at as failed_at
        from hosts h
          left join certificate_progress p on p.hostname = h.hostname and p.at > ${now - stepSeconds}
          left join lateral (select ca, reason, detail, at from issuance_failures i
            where i.hostname = h.hostname order by at desc limit 1) f on true
        where ${sql.in("h.hostname", hostnames)}`
    })
    const take = SqlSchema.findAll({
      Request: Step,
      Result: Schema.Struct({ hostname: Schema.String }),
      execute: (row) => sql`
        insert into certificate_progress as p ${sql.insert(row)}
        on conflict (hostname) do update set agent = excluded.agent, step = excluded.step,
          at = case when p.step = excluded.step and p.agent = excluded.agent then p.at else excluded.at end
          where p.agent = excluded.agent or p.at <= ${row.at - stepSeconds}
        returning hostname`
    })
    /** A step that arrives behind the end of its order finds no row, and none is made that would keep the other agents waiting. */
    const advance = SqlSchema.findAll({
      Request: Step,
      Result: Schema.Struct({ hostname: Schema.String }),
      execute: ({ agent, at, hostname, step }) => sql`
        update certificate_progress set step = ${step}, at = case when step = ${step} then at else ${at} end
          where hostname = ${hostname} and agent = ${agent}
        returning hostname`
    })

    const of = Effect.fnUntraced(function* (hostnames: ReadonlyArray<string>) {
      if (hostnames.length === 0) return new Map<string, CertificateStanding>()
      const rows = yield* find({ hostnames, now: yield* unixSeconds })
      return new Map(rows.map((row) => [row.hostname, standingOf(row)]))
    }, sqlOrDie)

    return {
      of,
      ask: Effect.fn("CertificateStandings.ask")(function* (path: Path) {
        const { hostname } = yield* owned(path)
        return yield* Effect.fromOption(Option.fromUndefinedOr((yield* of([hostname])).get(hostname))).pipe(
          Effect.mapError(() => new HostnameUnknown())
        )
      }),
      record: Effect.fn("CertificateStandings.record")(function* (path: Path, { agent, step }: IssuanceProgress) {
        const { hostname } = yield* owned(path)
        if (!(yield* of([hostname])).has(hostname)) return yield* new HostnameUnknown()
        if (step === "waiting") {
          yield* sqlOrDie(sql`delete from certificate_progress where hostname = ${hostname} and agent = ${agent}`)
          return new IssuanceTurn({ yours: true })
        }
        const write = step === "ordering" ? take : advance
        const written = yield* sqlOrDie(write({ hostname, agent, step, at: yield* unixSeconds }))
        return new IssuanceTurn({ yours: written.length > 0 })
      })
    }
  })

  static readonly layer = Layer.effect(CertificateStandings, CertificateStandings.make).pipe(
    Layer.provide(Admissions.layer)
  )
}
