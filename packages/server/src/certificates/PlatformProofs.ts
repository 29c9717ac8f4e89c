/** How the control plane proves a host to an authority: by what every edge shows (RFC 8737), or in DNS for a wildcard. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { SealedPair } from "@catenet/domain/edges/HostCertificates"
import { Hostname } from "@catenet/domain/values/Hostname"
import { ended } from "@catenet/domain/values/Sentence"
import { Entropy } from "@catenet/platform/Entropy"
import { Clock, Effect, Option, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHash } from "node:crypto"
import { converged } from "../dns/DnsPropagation.ts"
import { challengeName, DnsProvider } from "../dns/DnsProvider.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Sealing } from "../store/Sealing.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { OrderFailed } from "./CertificateOrders.ts"
import type * as Store from "./PlatformCertificateStore.ts"

type Store = Effect.Success<ReturnType<typeof Store.make>>

/** How long the edges have to fetch a proof. */
const reachWithin = "20 seconds"
/** Name servers have longer than for an agent, which gives up after ten seconds. */
const dnsRounds = 10
const day = 86_400_000
const place = "platform_certificates.challenge"

const Challenge = Schema.fromJsonString(SealedPair)
const write = Schema.encodeSync(Challenge)
const read = Schema.decodeUnknownOption(Challenge)
const readPair = Schema.decodeSync(SealedPair)

export const pemOf = (key: ReturnType<typeof Entropy.newEcKey>) =>
  key.export({ type: "pkcs8", format: "pem" }).toString()

const notEverywhere = new OrderFailed({
  why: `Not every edge has fetched the proof within ${reachWithin}; set CT_EDGE_PLATFORM_CERTIFICATES=1 at each.`
})

/** Returns when every edge that asks has this revision: an authority may come to any of them. */
const reached = (store: Store, revision: number) =>
  Effect.gen(function* () {
    const { edges, reached } = yield* store.reached({ now: yield* unixSeconds, revision })
    return edges > 0 && edges === reached
  }).pipe(
    sqlOrDie,
    Effect.tap((all) => (all ? Effect.void : Effect.sleep("250 millis"))),
    Effect.repeat({ until: (all) => all }),
    Effect.timeoutOrElse({ duration: reachWithin, orElse: () => Effect.fail(notEverywhere) }),
    Effect.asVoid
  )

export const make = Effect.fnUntraced(function* (store: Store) {
  const { dnsTimeoutSeconds } = yield* Settings
  const provider = yield* DnsProvider
  const { open, seal } = yield* Sealing
  const random = yield* SecureRandom.SecureRandom

  const byTls = Effect.fnUntraced(function* (host: string, keyAuthorization: string) {
    const now = yield* Clock.currentTimeMillis
    const key = Entropy.newEcKey()
    const validity = { from: now - day, until: now + 7 * day }
    const chain = Certificate.pem(Certificate.mintChallenge(host, key, keyAuthorization, validity))
    const challenge = seal(place, write(readPair({ chain, key: pemOf(key) })))
    const { revision } = yield* Effect.acquireRelease(sqlOrDie(store.challenge({ host, challenge })), () =>
      Effect.ignore(store.challenge({ host, challenge: null }))
    )
    yield* reached(store, revision)
  })

  const byDns = Effect.fnUntraced(
    function* (zone: string, keyAuthorization: string) {
      const name = challengeName(Hostname.make(zone))
      const value = createHash("sha256").update(keyAuthorization).digest("base64url")
      yield* Effect.acquireRelease(provider.set({ name, type: "TXT", values: [value] }), () =>
        Effect.ignore(provider.set({ name, type: "TXT", values: [] }))
      )
      yield* converged(yield* provider.authoritative, name, value).pipe(
        Effect.provideService(SecureRandom.SecureRandom, random),
        Effect.timeout(`${dnsTimeoutSeconds * dnsRounds} seconds`)
      )
    },
    Effect.mapError(({ message }) => new OrderFailed({ why: `The proof is not published in DNS: ${ended(message)}` }))
  )

  return {
    method: (host: string) => (host.startsWith("*.") ? "dns-01" : "tls-alpn-01"),
    /** Publishes the proof while the scope is open, and returns when the authority will see it. */
    prove: (host: string, keyAuthorization: string) =>
      host.startsWith("*.") ? byDns(host.slice(2), keyAuthorization) : byTls(host, keyAuthorization),
    /** What an edge shows. One that no key opens is replaced at the next attempt. */
    shown: (sealed: string | null) =>
      sealed === null
        ? null
        : Result.match(open(place, sealed), {
            onFailure: () => null,
            onSuccess: (text) => Option.getOrNull(read(text))
          })
  } as const
})
