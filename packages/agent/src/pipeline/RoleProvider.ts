/** Finds the providers of a role on its derived channel, and keeps a session with each: its offer, and calls of its tools. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { clause } from "@catenet/domain/values/Sentence"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import { Data, Effect, Option, Result } from "effect"
import * as RpcClient from "../channel/rpc/RpcClient.ts"
import * as ChannelSession from "../channel/session/ChannelSession.ts"
import type * as FallbackDialer from "../channel/session/FallbackDialer.ts"
import * as SessionLifecycle from "../channel/session/SessionLifecycle.ts"

// The members waiting on a role's derived channel. The edge connects those that have waited longest, and a provider that has
// served waits again behind the others, so all have been met when one comes a second time.

/** Limit of providers for one role. */
const maxProviders = 64
const maxFailures = 3

/** The next session on the channel, which stays open until the scope closes or the peer ends it. */
const meet = Effect.fnUntraced(function* (broker: FallbackDialer.Broker, member: ChannelSession.Member) {
  const met = yield* ChannelSession.meet(broker, member, undefined)
  const session = yield* ChannelSession.open(met, member)
  const { stream } = session
  const closed = Effect.callback<void>((resume) => {
    if (stream.destroyed) return resume(Effect.void)
    stream.once("close", () => resume(Effect.void))
  })
  yield* Effect.forkScoped(Effect.ignore(SessionLifecycle.use(session, broker.grant, closed)))
  yield* Effect.addFinalizer(() => ChannelSession.close(session))
  return session
})

/** All of them, each in a session that the scope holds. One more is waited for as long as `waitSecs`. */
export const meetAll = Effect.fn("RoleProvider.meetAll")(function* (
  role: string,
  broker: FallbackDialer.Broker,
  member: ChannelSession.Member,
  waitSecs: number
) {
  const found: Array<RoleProvider> = []
  const seen = new Set<string>()
  let failures = 0
  while (seen.size < maxProviders && failures < maxFailures) {
    const leftOut = ({ message }: { readonly message: string }) =>
      Effect.as(Effect.logWarning(`${role}: a provider cannot be met: ${clause(message)}.`), undefined)
    const met = yield* Effect.timeoutOption(
      Effect.catchTags(meet(broker, member), { HandshakeFailed: leftOut, PeerRefused: leftOut }),
      `${waitSecs} seconds`
    )
    if (Option.isNone(met)) break
    const session = met.value
    if (session?.peerHolder === undefined) {
      failures++
      continue
    }
    const holder = Hex.encode(session.peerHolder)
    if (seen.has(holder)) {
      yield* ChannelSession.close(session)
      break
    }
    seen.add(holder)
    yield* Effect.matchEffect(ofSession(session), {
      onSuccess: (provider) => Effect.sync(() => found.push(provider)),
      onFailure: ({ message }) => Effect.logWarning(`${role}: a provider is left out: ${clause(message)}.`)
    })
  }
  return found
})

/** A provider's response is unusable or missing. */
export class ProviderFailed extends Data.TaggedError("ProviderFailed")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

export interface RoleProvider {
  readonly holder: string
  readonly offer: Offer.Offer
  readonly call: (tool: string, args: Json.Json) => Effect.Effect<Json.Json, ProviderFailed>
}

/** A service may take the two minutes of its command; offers and bids are immediate. */
const boundOf = (tool: string) => (tool.startsWith("service/") ? "125 seconds" : "15 seconds")

const failed = ({ message }: { readonly message: string }) => new ProviderFailed({ why: message })

const callOf = (client: RpcClient.RpcClient): RoleProvider["call"] =>
  Effect.fn("RoleProvider.call")(function* (name, args) {
    const reply = yield* client.request("tools/call", { name, arguments: args }).pipe(
      Effect.mapError(failed),
      Effect.timeoutOrElse({
        duration: boundOf(name),
        orElse: () => Effect.fail(failed({ message: `no answer to ${name} within ${boundOf(name)}` }))
      })
    )
    return yield* Effect.mapError(Effect.fromResult(Envelope.readResponse(reply)), failed)
  })

/** Asks the session's peer for its offer, which must be its own, signed and not expired. */
const ofSession = Effect.fn("RoleProvider.ofSession")(function* ({
  peerHolder,
  stream
}: ChannelSession.ChannelSession) {
  const call = callOf(RpcClient.make(stream))
  const shown = Offer.json.fromJson(yield* call("auction/offer", {}))
  if (Result.isFailure(shown)) return yield* failed({ message: `its offer cannot be read: ${shown.failure.message}` })
  const offer = shown.success
  if (peerHolder === undefined || !Bytes.equal(offer.holder, peerHolder))
    return yield* failed({ message: "its offer is signed by another holder" })
  const now = yield* unixSecondsBigInt
  if (!Offer.verify(native, offer, now))
    return yield* failed({ message: "its offer has expired, or its signature does not verify" })
  const provider: RoleProvider = { holder: Hex.encode(offer.holder), offer, call }
  return provider
})
