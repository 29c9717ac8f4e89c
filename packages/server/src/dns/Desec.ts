/** The back end for deSEC and what is shaped like it: record sets changed over HTTP, with a token. */
import { Effect, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ChangeRefused, type RecordSet } from "./DnsProvider.ts"

/** Seconds for which resolvers may keep a record; the least that the service allows. */
const ttl = 3600

/** The part of a name below the zone; empty for the zone itself. */
const below = (name: string, zone: string) => (name === zone ? "" : name.slice(0, -zone.length - 1))

const quoted = (text: string) => `"${text.replace(/[\\"]/g, (sign) => `\\${sign}`)}"`

export const make = Effect.fnUntraced(function* (to: {
  readonly base: URL
  readonly zone: string
  readonly token: Redacted.Redacted
}) {
  const client = yield* HttpClient.HttpClient
  const address = `${to.base.href.replace(/\/$/, "")}/domains/${encodeURIComponent(to.zone)}/rrsets/`
  return {
    set: Effect.fn("Desec.set")(function* ({ name, type, values }: RecordSet) {
      const records = type === "TXT" ? values.map(quoted) : values
      const change = [{ subname: below(name, to.zone), type, ttl, records }]
      const request = HttpClientRequest.patch(address).pipe(
        HttpClientRequest.setHeader("authorization", `Token ${Redacted.value(to.token)}`),
        HttpClientRequest.bodyJsonUnsafe(change)
      )
      const { status } = yield* client.execute(request).pipe(
        Effect.timeout("8 seconds"),
        Effect.mapError((cause) => new ChangeRefused({ why: `no answer (${cause._tag})` }))
      )
      if (status >= 300) return yield* new ChangeRefused({ why: `the service answered ${status}` })
    })
  }
})
