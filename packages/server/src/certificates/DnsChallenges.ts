/**
 * The DNS-01 broker: an agent that may issue now has its challenge published, without ever seeing the credentials of the
 * zone. The answer comes when every authoritative server shows the challenge, so that the authority will see it too.
 */
import {
  type ChallengeNotBrokered,
  type ChallengeNotDelegated,
  DnsBusy,
  DnsNotConverged,
  DnsProviderFailed,
  type HostnameUnknown,
  NotAdmitted,
  type NotHostnameOwner
} from "@catenet/domain/certificates/AdmissionErrors"
import type { Hostname } from "@catenet/domain/values/Hostname"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { Context, Deferred, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as DnsBackend from "../dns/DnsBackend.ts"
import { converged } from "../dns/DnsPropagation.ts"
import { type ChangeRefused, DnsProvider, isWithin } from "../dns/DnsProvider.ts"
import { Settings } from "../settings/Settings.ts"
import { HostnameProofs } from "../tunnels/hostnames/HostnameProofs.ts"
import { Admissions } from "./Admissions.ts"

/** Challenges that one process waits for at a time; when there are as many, the tunnel with the most gives up its newest to others. */
const maxAtOnce = 32
/** Seconds after which a place will be free again, more or less. */
const retryAfter = 5

export class DnsChallenges extends Context.Service<
  DnsChallenges,
  {
    /** Publishes a challenge and waits until it is seen. Repeating it replaces the value. */
    readonly set: (request: {
      readonly token: RoutingToken
      readonly hostname: Hostname
      readonly value: string
    }) => Effect.Effect<
      void,
      | ChallengeNotBrokered
      | ChallengeNotDelegated
      | DnsBusy
      | DnsNotConverged
      | DnsProviderFailed
      | HostnameUnknown
      | NotAdmitted
      | NotHostnameOwner
    >
    /** Takes a challenge away again; one that is not there is no failure. */
    readonly clear: (request: {
      readonly token: RoutingToken
      readonly hostname: Hostname
    }) => Effect.Effect<void, ChallengeNotBrokered | DnsProviderFailed | NotHostnameOwner>
  }
>()("server/certificates/DnsChallenges") {
  static readonly make = Effect.gen(function* () {
    const admissions = yield* Admissions
    const proofs = yield* HostnameProofs
    const provider = yield* DnsProvider
    const { dnsTimeoutSeconds } = yield* Settings
    const random = yield* SecureRandom.SecureRandom
    const places = new FairPlaces(maxAtOnce)

    const failed = (cause: ChangeRefused) =>
      Effect.andThen(Effect.logWarning(cause.message), Effect.fail(new DnsProviderFailed()))

    const busy = Effect.fail(new DnsBusy({ retry_after: retryAfter }))

    /** Runs while the tunnel has a place. */
    const inPlace = <A, E, R>(token: RoutingToken, waiting: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const evicted = Deferred.makeUnsafe<never, DnsBusy>()
        const evict = () => Deferred.doneUnsafe(evicted, busy)
        const leave = places.take(Redacted.value(token), { isIdle: () => false, evict })
        if (leave === undefined) return busy
        return Effect.ensuring(Effect.raceFirst(waiting, Deferred.await(evicted)), Effect.sync(leave))
      })

    const publish = Effect.fnUntraced(
      function* (name: string, value: string) {
        yield* provider.set({ name, type: "TXT", values: [value] })
        yield* converged(yield* provider.authoritative, name, value).pipe(
          Effect.timeoutOrElse({
            duration: `${dnsTimeoutSeconds} seconds`,
            orElse: () => Effect.fail(new DnsNotConverged())
          })
        )
      },
      Effect.scoped,
      Effect.catchTag("ChangeRefused", failed),
      Effect.provideService(SecureRandom.SecureRandom, random)
    )

    const isOurs = (name: string) => provider.zone !== undefined && isWithin(name, provider.zone)

    return {
      set: Effect.fn("DnsChallenges.set")(function* (request: {
        readonly token: RoutingToken
        readonly hostname: Hostname
        readonly value: string
      }) {
        if (!(yield* admissions.mayIssue(request.token, request.hostname))) return yield* new NotAdmitted()
        const name = yield* proofs.challengeAt(request.token, request.hostname, true)
        if (!isOurs(name)) return yield* new DnsProviderFailed()
        yield* inPlace(request.token, publish(name, request.value))
      }),

      clear: Effect.fn("DnsChallenges.clear")(function* (request: {
        readonly token: RoutingToken
        readonly hostname: Hostname
      }) {
        yield* admissions.owns(request.token, request.hostname)
        const at = proofs.challengeAt(request.token, request.hostname, false)
        const name = yield* Effect.catchTag(at, "ChallengeNotDelegated", Effect.die)
        if (!isOurs(name)) return yield* new DnsProviderFailed()
        yield* Effect.catchTag(provider.set({ name, type: "TXT", values: [] }), "ChangeRefused", failed)
      })
    }
  })

  static readonly layer = Layer.effect(DnsChallenges, DnsChallenges.make).pipe(
    Layer.provide([Admissions.layer, DnsBackend.layer, HostnameProofs.layer])
  )
}
