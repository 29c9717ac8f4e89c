/**
 * Who serves a role: the members that wait on its derived channel. The edge brings together those that wait the longest, and who
 * serves waits again behind the others, so all have been met when one comes a second time.
 */
import * as Hex from "@catenet/crypto/Hex"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, Option } from "effect"
import * as ChannelSession from "../session/ChannelSession.ts"
import type * as FallbackDialer from "../session/FallbackDialer.ts"
import * as SessionLifecycle from "../session/SessionLifecycle.ts"
import * as RoleProvider from "./RoleProvider.ts"

/** Of one role; more are not looked for. */
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
export const meetAll = Effect.fn("RoleProviderDiscovery.meetAll")(function* (
  role: string,
  broker: FallbackDialer.Broker,
  member: ChannelSession.Member,
  waitSecs: number
) {
  const found: Array<RoleProvider.RoleProvider> = []
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
    yield* Effect.matchEffect(RoleProvider.ofSession(session), {
      onSuccess: (provider) => Effect.sync(() => found.push(provider)),
      onFailure: ({ message }) => Effect.logWarning(`${role}: a provider is left out: ${clause(message)}.`)
    })
  }
  return found
})
