/** What every session has in common: its events, its counts, and the expiry of its grant. */
import type { Grant } from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { Clock, Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { Events } from "../../observe/Events.ts"
import * as StatusLine from "../../terminal/StatusLine.ts"
import { SessionTermination } from "./ChannelFailure.ts"
import type { ChannelSession } from "./ChannelSession.ts"
import * as DirectUpgrade from "./DirectUpgrade.ts"
import { TaggedStream } from "./TaggedStream.ts"

/** The peer's name in events: its holder key, or its Noise key if the holder is unknown. */
const nameOf = ({ peerHolder, peerKey }: ChannelSession) => Hex.encode(peerHolder ?? peerKey)

/** Fails when the grant expires, this member's own or another. */
export const expiry = Effect.fnUntraced(function* (
  expiresAt: bigint,
  why = "the grant has expired. Ask the operator of the channel for a new one."
) {
  // The longest delay of a timer, which is enough for any process.
  const longest = 2_000_000_000
  while (true) {
    const left = Number(expiresAt * 1000n) - (yield* Clock.currentTimeMillis)
    if (left <= 0) return yield* new SessionTermination({ why })
    yield* Effect.sleep(Math.min(left, longest))
  }
})

const peerExpired = "the peer's grant has expired. The operator of the channel can give it a new one."

const statusPause = "30 seconds"

/** The bytes of the session so far. */
const spoken = (session: ChannelSession, openedAt: number) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { received, sent } = session.bytes()
    const seconds = Math.round((now - openedAt) / 1000)
    return `session with ${nameOf(session).slice(0, 16)}: ${seconds} s, ${StatusLine.bytes(sent)} sent, ${StatusLine.bytes(received)} received`
  })

/** Runs a session to its end. The stream is destroyed then, however it ended. */
export const use = <E, R>(
  session: ChannelSession,
  grant: Grant | undefined,
  body: Effect.Effect<void, E, R>
): Effect.Effect<void, E | SessionTermination, R | AgentMetrics | Events | SecureRandom.SecureRandom> =>
  Effect.gen(function* () {
    const metrics = yield* AgentMetrics
    const events = yield* Events
    const peer = nameOf(session)
    let ended = metrics.channelOpened(session.carrier, session.keyExchange)
    const moving = Effect.gen(function* () {
      if (session.move === undefined || !(yield* session.move)) return yield* Effect.never
      ended()
      ended = metrics.channelOpened(session.carriedBy(), session.keyExchange)
      yield* Effect.logInfo(`session with ${peer.slice(0, 16)} moved from ${session.carrier} to a direct link`)
      return session.stream instanceof TaggedStream
        ? yield* DirectUpgrade.keepRelay(session.stream)
        : yield* Effect.never
    })
    yield* Effect.logInfo(
      `session with ${peer.slice(0, 16)} open, by ${session.carrier}, keys by ${session.keyExchange}`
    )
    yield* events.record("channel_session", { state: "open", peer })
    const openedAt = yield* Clock.currentTimeMillis
    const line = Effect.flatMap(spoken(session, openedAt), (message) => Effect.logInfo(message))
    const status = Effect.forever(Effect.delay(line, statusPause))
    const expiries = [
      ...(grant === undefined ? [] : [expiry(grant.expiresAt)]),
      ...(session.peerGrantEnds === undefined ? [] : [expiry(session.peerGrantEnds, peerExpired)])
    ]
    const tethered = session.tethered === undefined ? [] : [session.tethered]
    yield* Effect.raceAllFirst([body, status, moving, ...tethered, ...expiries]).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          ended()
          session.stream.destroy()
          return Effect.all([line, events.record("channel_session", { state: "close", peer }), session.noted])
        })
      )
    )
  })
