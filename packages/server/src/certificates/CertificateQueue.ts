/** The hostnames that wait for a certificate of their own: those with an offer, those in the queue, those that let one lapse. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Waiting = Schema.Struct({
  hostname: Schema.String,
  claim: Schema.Literals(["queued", "offered", "lapsed"]),
  ca: Schema.NullOr(Schema.String),
  /** Since when it is queued, until when the offer stands, or when it queues again. */
  at: Schema.Int,
  lapses: Schema.Int
})
export type Waiting = typeof Waiting.Type

export class CertificateQueue extends Context.Service<
  CertificateQueue,
  {
    /** The first of each kind, at most `limit`. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<Waiting>>
  }
>()("server/certificates/CertificateQueue") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Each kind is read by the index that the sweep has for it.
    const list = SqlSchema.findAll({
      Request: Schema.Int,
      Result: Waiting,
      execute: (limit) => sql`
        (select hostname, claim, ca, deadline as at, lapses from hosts where claim = 'offered'
          order by deadline limit ${limit})
        union all (select hostname, claim, ca, queued_at, lapses from hosts where claim = 'queued'
          order by queued_at, hostname limit ${limit})
        union all (select hostname, claim, ca, retry_at, lapses from hosts where claim = 'lapsed'
          order by retry_at limit ${limit})`
    })
    return { list: (limit: number) => Effect.orDie(list(limit)) }
  })

  static readonly layer = Layer.effect(CertificateQueue, CertificateQueue.make)
}
