/**
 * Signs an enrolled agent's requests with its key, because others may know the routing token. The timestamp follows the server's
 * clock, so that an agent with a wrong clock works too.
 */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import { native } from "@catenet/crypto/native"
import { AgentProofRequired } from "@catenet/domain/certificates/AdmissionErrors"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Context, Effect, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

/** The key of an enrolled agent; undefined otherwise. */
export type Seed = Effect.Effect<Redacted.Redacted<Uint8Array> | undefined>

/** Whose key signs the requests of a call: tunnels of one process share clients. */
const Signer = Context.Reference<Seed>("agent/onboard/ProvedRequests/Signer", { defaultValue: () => Effect.undefined })

/** What the tunnels of one process share; undefined in a process that serves one. */
export const Sharing = Context.Reference<object | undefined>("agent/onboard/ProvedRequests/Sharing", {
  defaultValue: () => undefined
})

/** Makes one of these for each control plane: a client of many routes is some 70 KiB. */
export const shared = <A>() => {
  const bySharing = new WeakMap<object, Map<string, A>>()
  return <E, R>(url: string, make: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const sharing = yield* Sharing
      const made = sharing && (bySharing.get(sharing) ?? new Map<string, A>())
      if (sharing !== undefined && made !== undefined) bySharing.set(sharing, made)
      const known = made?.get(url) ?? (yield* make)
      made?.set(url, known)
      return known
    })
}

const nothing = new Uint8Array()

/** Retried calls: those rejected because of their timestamp; the response has set the clock. */
const isStale = (error: unknown) => error instanceof AgentProofRequired && error.reason === "stale"

/**
 * A client that signs its requests, before the server's address is prepended, and retries a call once. Every call goes through
 * `onceMore`, which says whose key it is.
 */
export const by = (client: HttpClient.HttpClient, seed: Seed) => {
  let ahead = 0
  const signed = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.gen(function* () {
      const key = yield* yield* Signer
      if (key === undefined) return request
      const body = request.body._tag === "Uint8Array" ? request.body.body : nothing
      const issuedAt = toUnixSeconds((yield* Clock.currentTimeMillis) + ahead)
      const [path = ""] = request.url.split("?")
      const proof = AgentRequest.sign(native, key, { method: request.method, path, body }, BigInt(issuedAt))
      return HttpClientRequest.setHeader(request, AgentRequest.header, proof)
    })
  return {
    httpClient: client.pipe(
      HttpClient.tap(({ headers }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const date = Date.parse(headers["date"] ?? "")
          if (!Number.isNaN(date)) ahead = date - now
        })
      ),
      HttpClient.mapRequestEffect(signed)
    ),
    onceMore: <A, E>(call: Effect.Effect<A, E>) =>
      Effect.provideService(Effect.retry(call, { times: 1, while: isStale }), Signer, seed)
  }
}
