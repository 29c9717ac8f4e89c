/**
 * Joins at the edge: one rung after the other until one admits this member. An end of the park is no failure of the rung, so the
 * member joins there again.
 */
import type { Acknowledgement } from "@catenet/crypto/admission/Acknowledgement"
import type * as Join from "@catenet/crypto/admission/Join"
import { Broken, type ParkExpired, Refused } from "@catenet/crypto/admission/Outcome"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Clock, Data, Effect, Result } from "effect"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import type { Meeting } from "../../settings/ChannelSettings.ts"
import { formatHostPort } from "../../settings/HostPort.ts"
import * as EdgeDial from "../../tunnel/EdgeDial.ts"
import type { Failure } from "./JoinExchange.ts"
import * as JoinOnStream from "./JoinOnStream.ts"
import { hasKeepalive, type Rung, rungsOf } from "./Rungs.ts"

export type Broker = Extract<Meeting, { readonly _tag: "Broker" }>

/** An admitted connection. */
export interface Leg {
  readonly rung: Rung
  readonly socket: TLSSocket
  readonly acknowledgement: Acknowledgement
  /** The edge knows in which phase this member is. */
  readonly isMarked: boolean
}

export interface Attempt {
  readonly rung: Rung
  readonly error: EdgeDial.DialFailed | Exclude<Failure, ParkExpired>
}

/** No rung admitted this member. */
export class LadderExhausted extends Data.TaggedError("LadderExhausted")<{
  readonly attempts: ReadonlyArray<Attempt>
}> {
  override get message() {
    const said = this.attempts.map(({ error, rung }) =>
      error._tag === "DialFailed"
        ? `${rung.name} ${error.message.replace(/^edge /, "")}`
        : `${rung.name} ${formatHostPort(rung.address)}: ${error.message}`
    )
    return `No way to the edge admits this member. ${said.join("; ")}.`
  }
  /** The refusal with a reason, or else any. */
  get refusal() {
    const refused = this.attempts.flatMap(({ error }) => (error._tag === "Refused" ? [error] : []))
    return refused.find(({ token }) => token !== undefined) ?? refused[0]
  }
}

/** A park that ended sooner was pushed out by another join of this holder: two processes must not push each other in a loop. */
const briefParkMillis = 1_000
const briefParkPause = "200 millis"

const onRung = Effect.fnUntraced(function* (rung: Rung, broker: Broker, endpoint: string, phase: Join.Phase) {
  const { alpn, dialMillis: millis, root, serverName } = rung
  const metrics = yield* AgentMetrics
  const socket = yield* EdgeDial.dial(rung.address, root, alpn, { serverName, millis })
  guard(socket, metrics.ending(socket))
  const isMarked = hasKeepalive(socket.alpnProtocol)
  const { grant, holderKey } = broker
  const acknowledgement = yield* JoinOnStream.join(socket, {
    grant,
    endpoint,
    holderKey,
    phase,
    hasKeepalive: isMarked
  }).pipe(Effect.onExit((exit) => Effect.sync(() => exit._tag === "Failure" && socket.destroy())))
  return { rung, socket, acknowledgement, isMarked } satisfies Leg
})

/** Joins at one rung, again after each park that ended without a peer. */
const parkedOn = Effect.fnUntraced(function* (rung: Rung, broker: Broker, endpoint: string) {
  while (true) {
    const before = yield* Clock.currentTimeMillis
    const leg = yield* onRung(rung, broker, endpoint, "rendezvous").pipe(
      Effect.catchTag("ParkExpired", () => Effect.undefined)
    )
    if (leg !== undefined) return leg
    yield* Effect.logDebug(`no peer yet at ${rung.name} ${formatHostPort(rung.address)}; joining again`)
    if ((yield* Clock.currentTimeMillis) - before < briefParkMillis) yield* Effect.sleep(briefParkPause)
  }
})

/** The leg of the first rung that admits this member. */
const climb = Effect.fnUntraced(function* <E, R>(
  rungs: ReadonlyArray<Rung>,
  join: (rung: Rung) => Effect.Effect<Leg, E | Attempt["error"], R>
) {
  const attempts: Array<Attempt> = []
  for (const rung of rungs) {
    const joined = yield* Effect.result(join(rung))
    if (Result.isSuccess(joined)) return joined.success
    const error = joined.failure
    if (!isAttempt(error)) return yield* Effect.fail(error)
    attempts.push({ rung, error })
  }
  return yield* new LadderExhausted({ attempts })
})

const isAttempt = (error: unknown): error is Attempt["error"] =>
  error instanceof EdgeDial.DialFailed || error instanceof Refused || error instanceof Broken

/** Meets a peer, however long that takes. */
export const rendezvous = Effect.fn("Ladder.rendezvous")((broker: Broker, endpoint: string) =>
  climb<never, AgentMetrics>(rungsOf(broker, "rendezvous"), (rung) => parkedOn(rung, broker, endpoint))
)

/** Gets a leg to the peer that was met. It fails with `ParkExpired` when that peer does not come. */
export const relay = Effect.fn("Ladder.relay")((broker: Broker, endpoint: string) =>
  climb<ParkExpired, AgentMetrics>(rungsOf(broker, "relay"), (rung) => onRung(rung, broker, endpoint, "relay"))
)
