/**
 * Admits members at the broker and at the relay gate by grant, membership and key. This file moves the bytes between the carrier
 * and the exchange (data-plane 7.2).
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Entropy } from "@catenet/platform/Entropy"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { BrokerAdmission, type First, type Step, type Verdict } from "@catenet/wire/channels/BrokerAdmission"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { nextChunk } from "@catenet/wire/transport/NextChunk"
import { Clock, Context, Effect, Layer } from "effect"
import type { Duplex } from "node:stream"
import { AuditLog } from "../audit/AuditLog.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { JoinPenalties } from "./JoinPenalties.ts"
import type { Member } from "./Member.ts"
import { MemberAuthority } from "./MemberAuthority.ts"
import { countedBy, type MemberConnection } from "./MemberConnection.ts"

/** Time limit of a whole join at the broker, and of each step at the gate. */
const joinLimit = "15 seconds"
const definitiveRefusals = 30
const noBytes = new Uint8Array(0)

const counterOf = {
  matches: "endpointsMatching",
  cross_family: "endpointsOfOtherFamily",
  mismatch: "endpointsMismatching",
  no_address: "endpointsWithoutAddress",
  unobservable: "endpointsUnobservable"
} as const

type Accepted = Extract<Verdict, { readonly _tag: "Admitted" }>

/** An admitted member. `early` are the bytes after its signature. */
export interface Admitted {
  readonly member: Member
  readonly early: Uint8Array
}

const memberOf = (
  { authorization, join }: Accepted,
  { closesWhole, keepAlive, observed }: MemberConnection,
  authorizedAt: number
): Member => ({
  channel: Hex.encode(join.grant.channel),
  holder: Hex.encode(join.grant.holder),
  grant: join.grant,
  endpoint: join.endpoint,
  phase: join.phase,
  ...(join.offer === undefined ? {} : { offer: join.offer }),
  authorization,
  authorizedAt,
  observed,
  keepAlive,
  ...(closesWhole === true ? { closesWhole } : {})
})

const makeState = Effect.gen(function* () {
  const { channelMembers, processes, requireAttestedEndpoint } = yield* Settings
  return {
    requireAttestedEndpoint,
    authority: yield* MemberAuthority,
    audit: yield* AuditLog,
    counters: yield* Counters,
    clock: yield* Clock.Clock,
    penalties: new JoinPenalties(Math.ceil(definitiveRefusals / processes)),
    places: new FairPlaces(channelMembers)
  }
})
type State = Effect.Success<typeof makeState>

const now = ({ clock }: State) => clock.currentTimeMillisUnsafe()

const takes = (state: State, address: string | undefined) => {
  if (!state.authority.canAsk) return false
  if (!state.places.hasRoom(countedBy(address))) return false
  if (address === undefined || !state.penalties.refuses(address, now(state))) return true
  state.counters.channelPenaltySheds += 1
  return false
}

const admit = Effect.fn("MemberAdmissions.admit")(function* (
  state: State,
  stream: Duplex,
  carrier: MemberConnection,
  first: First
) {
  if (!takes(state, carrier.address)) return void stream.destroy()
  let isAdmitted = false
  const leave = state.places.take(countedBy(carrier.address), {
    isIdle: () => !isAdmitted,
    evict: () => void stream.destroy()
  })
  if (leave === undefined) return void stream.destroy()
  if (carrier.ended === undefined) stream.once("close", leave)
  else void carrier.ended.then(leave)
  const admission = new BrokerAdmission({
    suite: native,
    first,
    marked: carrier.marked,
    phase: carrier.phase,
    observed: carrier.observed,
    requireAttested: state.requireAttestedEndpoint,
    challenge: () => Entropy.randomBytes(32)
  })
  let authorizedAt = 0

  /** Advances the exchange until the edge has something to send. */
  const advance = Effect.fnUntraced(function* (from: Step) {
    let step = from
    for (;;) {
      if (step._tag === "Read") {
        const chunk = yield* nextChunk(stream)
        step = chunk === undefined ? admission.end() : admission.push(chunk)
      } else if (step._tag === "Ask") {
        const { answer, at } = yield* state.authority.ask(Hex.encode(step.channel), Hex.encode(step.holder))
        authorizedAt = at
        step = admission.answered(answer, toUnixSeconds(now(state)))
      } else return step
    }
  })
  const inTime = <A>(part: Effect.Effect<A | Verdict>) =>
    Effect.timeoutOrElse(part, { duration: joinLimit, orElse: () => Effect.sync(() => admission.end()) })
  const answerTo = Effect.fnUntraced(function* (step: Exclude<Step, { _tag: "Read" | "Ask" }>) {
    if (step._tag !== "Challenge") return step
    stream.write(step.bytes)
    const verdict = yield* advance(admission.push(noBytes))
    return verdict._tag === "Challenge" ? admission.end() : verdict
  })
  const opening = advance({ _tag: "Read" })
  const verdict: Verdict =
    first === "join"
      ? yield* inTime(Effect.flatMap(opening, answerTo))
      : yield* Effect.flatMap(inTime(opening), (step) => inTime(answerTo(step)))
  if (admission.attested !== undefined) state.counters[counterOf[admission.attested]] += 1
  if (verdict._tag === "Admitted") {
    isAdmitted = true
    const member = memberOf(verdict, carrier, authorizedAt)
    state.audit.noteMember(carrier.leg, carrier.address, member.channel, member.holder)
    return { member, early: verdict.early }
  }
  if (verdict.counts && carrier.address !== undefined) state.penalties.note(carrier.address, now(state))
  if (verdict._tag === "Dropped") return void stream.destroy()
  stream.end(verdict.bytes)
  closeGracefully(stream)
  const named = verdict.join && {
    channel: Hex.encode(verdict.join.grant.channel),
    holder: Hex.encode(verdict.join.grant.holder)
  }
  yield* Effect.logDebug("member refused").pipe(Effect.annotateLogs({ category: verdict.category, ...named }))
  return undefined
})

export class MemberAdmissions extends Context.Service<
  MemberAdmissions,
  {
    /** Whether this edge serves channels at all. */
    readonly isServed: boolean
    /** Whether the address may join now; checked before its TLS handshake. */
    readonly takes: (address: string | undefined) => boolean
    /**
     * Admits the member of a new connection, or answers and closes it. The stream is paused, and nothing of it has been read.
     * `first` is the first message expected.
     */
    readonly admit: (stream: Duplex, carrier: MemberConnection, first: First) => Effect.Effect<Admitted | undefined>
    /** Number of addresses with counted guesses. */
    readonly trackedAddresses: () => number
  }
>()("edge/channels/MemberAdmissions") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    return MemberAdmissions.of({
      isServed: state.authority.canAsk,
      takes: (address) => takes(state, address),
      admit: (stream, carrier, first) => admit(state, stream, carrier, first),
      trackedAddresses: () => state.penalties.size
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([MemberAuthority.layer, Counters.layer]))
}
