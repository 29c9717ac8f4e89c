/**
 * The room of a channel: pairs waiting members and relays their sessions. A member is removed when its grant expires or its
 * membership ends; the control plane is asked again while it waits and while it has a session.
 */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { retryForever } from "@catenet/platform/RetryForever"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { type Pairing, PairingRoom } from "@catenet/wire/channels/PairingRoom"
import { StreamReset } from "@catenet/wire/transport/Carrier"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { Clock, Context, Effect, FiberSet, Layer, Result, Schedule } from "effect"
import type { Duplex } from "node:stream"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Settings } from "../settings/Settings.ts"
import { ChannelMeter, type ChannelSession, ChannelSessions } from "./ChannelSessions.ts"
import type { Member } from "./Member.ts"
import { MemberAuthority } from "./MemberAuthority.ts"
import { PendingMember } from "./PendingMember.ts"
import { RevocationTombstones } from "./RevocationTombstones.ts"

/** When each member of a channel was last here. Bounded: the member seen longest ago is dropped first. Times are arguments. */
const maxSeen = 65_536

class LastSeenTable {
  readonly #seen = new BoundedMap<string, number>(maxSeen)

  note(channel: string, holder: string, now: number): void {
    this.#seen.set(`${channel} ${holder}`, now)
  }

  at(channel: string, holder: string): number | undefined {
    return this.#seen.get(`${channel} ${holder}`)
  }

  /** The holders of a channel and when each was last here. */
  of(channel: string): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (const [key, at] of this.#seen) if (key.startsWith(channel)) found.set(key.slice(channel.length + 1), at)
    return found
  }
}

const parkMillis = 30_000
const tickEvery = "1 second"
const askEvery = "30 seconds"
/** Idle limit of a session with a relay node. */
const relayNodeIdleMillis = 300_000

const holds = ({ grant }: Member, operatorKey: Uint8Array, now: number) =>
  Result.isSuccess(Grant.verify(native, grant, operatorKey, toUnixSeconds(now)))

const digestOf = (grant: Grant.Grant) => Hex.encode(native.sha256(Grant.encode(grant)))

/**
 * Ends the connections of a holder to a channel, or of all holders. `keeps` is the SHA-256 of a grant whose connections continue.
 */
export interface MemberCut {
  readonly channel: string
  readonly holder?: string
  readonly keeps?: string
}

const reset = (sentence: string) => new StreamReset({ code: "revoked", sentence, by: "local" })

const makeState = Effect.gen(function* () {
  const { keepAliveParkSeconds } = yield* Settings
  const { ending } = yield* ConnectionFaults
  const since = yield* Clock.currentTimeMillis
  return {
    counters: yield* Counters,
    authority: yield* MemberAuthority,
    relays: yield* Relays,
    ending,
    run: yield* FiberSet.makeRuntime<never>(),
    clock: yield* Clock.Clock,
    live: new ChannelSessions(),
    lastSeen: new LastSeenTable(),
    cuts: new RevocationTombstones(),
    lastTick: since,
    room: new PairingRoom<PendingMember>({
      holds,
      parkMillis: ({ keepAlive }) => (keepAlive ? keepAliveParkSeconds * 1_000 : parkMillis)
    }),
    since
  }
})
type State = Effect.Success<typeof makeState>

const now = ({ clock }: State) => clock.currentTimeMillisUnsafe()

/** Acts on each leg; an error ends only that leg. */
const each = ({ ending }: State, legs: ReadonlyArray<PendingMember>, act: (leg: PendingMember) => void) => {
  for (const leg of legs) guarded(ending(leg.stream), () => act(leg))()
}

const talk = Effect.fnUntraced(function* (
  state: State,
  session: ChannelSession,
  meter: ChannelMeter,
  a: Duplex,
  b: Duplex,
  idleMillis?: number
) {
  state.counters.channelSplices += 1
  const { signal } = session.controller
  yield* state.relays.pass(a, b, { counters: meter, signal, ...(idleMillis === undefined ? {} : { idleMillis }) })
  state.live.close(session)
  for (const { channel, holder } of session.members) state.lastSeen.note(channel, holder, now(state))
})

const relay = Effect.fnUntraced(function* (
  state: State,
  stream: Duplex,
  node: Duplex,
  { early, member }: { readonly member: Member; readonly early: Uint8Array },
  reply: Uint8Array
) {
  if (state.cuts.outdates(member.channel, member.holder, member.authorizedAt)) {
    node.destroy()
    return void stream.destroy()
  }
  stream.write(reply)
  if (early.length > 0) node.write(early)
  yield* talk(state, state.live.open([member]), new ChannelMeter(state.counters), stream, node, relayNodeIdleMillis)
})

const introduce = (state: State, { acceptor, completion, initiator }: Pairing<PendingMember>) => {
  const a = initiator.acknowledge(acceptor.member, "initiate", completion)
  const b = acceptor.acknowledge(initiator.member, "accept", completion)
  if (completion === "close") state.counters.channelRendezvousPairs += 1
  else {
    const meter = new ChannelMeter(state.counters)
    meter.aToB += initiator.early.length
    meter.bToA += acceptor.early.length
    if (initiator.early.length > 0) b.write(initiator.early)
    if (acceptor.early.length > 0) a.write(acceptor.early)
    state.run(talk(state, state.live.open([initiator.member, acceptor.member]), meter, a, b))
  }
}

const enter = (state: State, stream: Duplex, member: Member, early: Uint8Array) =>
  Effect.sync(() => {
    const leg = new PendingMember(stream, member, early)
    if (stream.destroyed) return
    const { authorizedAt, channel, holder } = member
    state.lastSeen.note(channel, holder, now(state))
    if (state.cuts.outdates(channel, holder, authorizedAt)) return leg.expire()
    if (member.keepAlive) state.counters.channelParkLegsKeepAlive += 1
    else state.counters.channelParkLegsPlain += 1
    const { pairing, refused, superseded } = state.room.arrive(leg, now(state))
    state.counters.channelParksSuperseded += superseded.length
    each(state, superseded, (older) => older.expire())
    each(state, refused, (misfit) => misfit.refuse("pairing"))
    if (pairing !== undefined) return introduce(state, pairing)
    if (refused.includes(leg)) return
    leg.watch(() => {
      if (state.room.leave(leg, now(state))) state.counters.channelParksReaped += 1
      state.lastSeen.note(channel, holder, now(state))
    })
  })

const cut = ({ counters }: State, session: ChannelSession, sentence: string) => {
  counters.channelSessionsCut += 1
  session.controller.abort(reset(sentence))
}

const cutMembers = (state: State, { channel, holder, keeps }: MemberCut) => {
  const matches = (member: Member) =>
    (holder === undefined || member.holder === holder) && (keeps === undefined || digestOf(member.grant) !== keeps)
  state.cuts.note(channel, holder, now(state))
  state.authority.forget(channel)
  for (const session of state.live.all(channel))
    if (session.members.some(matches)) cut(state, session, "a member may no longer talk on this channel")
  each(
    state,
    state.room.waiting(channel).filter(({ member }) => matches(member)),
    (leg) => {
      state.room.leave(leg, now(state))
      leg.expire()
    }
  )
}

const seen = (state: State, channel: string) => {
  const at = now(state)
  const ago = new Map(Array.from(state.lastSeen.of(channel), ([holder, then]) => [holder, Math.max(0, at - then)]))
  for (const { member } of state.room.waiting(channel)) ago.set(member.holder, 0)
  for (const { members } of state.live.all(channel)) for (const { holder } of members) ago.set(holder, 0)
  return ago
}

const isOver = ({ grant }: Member, at: number) => grant.expiresAt <= BigInt(toUnixSeconds(at))

const tick = (state: State) =>
  Effect.sync(() => {
    const at = now(state)
    state.lastTick = at
    const { due, expired } = state.room.tick(at)
    state.counters.channelParksReaped += expired.length
    each(state, expired, (leg) => leg.expire())
    each(state, due, (leg) => leg.tick())
    for (const session of state.live.all())
      if (session.members.some((member) => isOver(member, at))) cut(state, session, "the grant of a member has ended")
  })

/** Asks about one member, and ends its connections if it is no longer a member. */
const askAgain = Effect.fnUntraced(function* (state: State, channel: string, holder: string) {
  const { answer } = yield* state.authority.ask(channel, holder)
  if (answer === "unknown") return
  const at = now(state)
  const remains = (member: Member) =>
    member.holder !== holder || (answer !== "no" && holds(member, answer.operatorKey, at))
  for (const session of state.live.all(channel))
    if (!session.members.every(remains)) cut(state, session, "a member was removed from the channel")
  for (const leg of state.room.waiting(channel))
    if (!remains(leg.member) && state.room.leave(leg, now(state))) leg.cut()
})

const askAll = (state: State) =>
  Effect.suspend(() => {
    const members = state.live.all().flatMap((session) => session.members)
    const distinct = new Map(members.map((member) => [`${member.channel} ${member.holder}`, member]))
    return Effect.forEach(distinct.values(), ({ channel, holder }) => askAgain(state, channel, holder), {
      concurrency: 8,
      discard: true
    })
  })

export class ChannelRoom extends Context.Service<
  ChannelRoom,
  {
    /** Takes over the stream of an admitted member; `early` are the bytes after its signature. */
    readonly enter: (stream: Duplex, member: Member, early: Uint8Array) => Effect.Effect<void>
    /**
     * Relays between a member and a relay node while the membership lasts. `early` are the bytes after its signature; `reply` is
     * sent to it first.
     */
    readonly relay: (
      stream: Duplex,
      node: Duplex,
      admitted: { readonly member: Member; readonly early: Uint8Array },
      reply: Uint8Array
    ) => Effect.Effect<void>
    /** Sends matching waiting members away, so that they join again elsewhere. */
    readonly sendAway: (matches: (member: Member) => boolean) => void
    /** Ends matching members' waits and sessions. */
    readonly cut: (cut: MemberCut) => void
    /** Milliseconds since each holder of the channel was last here; 0 for those who are here now. */
    readonly seen: (channel: string) => ReadonlyMap<string, number>
    readonly parked: () => number
    readonly sessions: () => number
    /** Epoch milliseconds of the first and of the last check of waiting members. */
    readonly since: number
    readonly lastTick: () => number
  }
>()("edge/channels/ChannelRoom") {
  static readonly make = Effect.gen(function* () {
    const state = yield* makeState
    const ticking = Effect.repeat(tick(state), Schedule.spaced(tickEvery))
    yield* Effect.forkScoped(ticking.pipe(retryForever("looking after those who wait for a channel")))
    const asking = askAll(state).pipe(Effect.delay(askEvery), Effect.repeat(Schedule.forever))
    yield* Effect.forkScoped(asking.pipe(retryForever("asking about members again")))
    return ChannelRoom.of({
      enter: (stream, member, early) => enter(state, stream, member, early),
      relay: (stream, node, admitted, reply) => relay(state, stream, node, admitted, reply),
      sendAway: (matches) =>
        each(
          state,
          state.room.waiting().filter(({ member }) => matches(member)),
          (leg) => {
            state.room.leave(leg, now(state))
            leg.expire()
          }
        ),
      cut: (cut) => cutMembers(state, cut),
      seen: (channel) => seen(state, channel),
      since: state.since,
      lastTick: () => state.lastTick,
      parked: () => state.room.size,
      sessions: () => state.live.all().length
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([MemberAuthority.layer, Relays.layer, Counters.layer, ConnectionFaults.layer])
  )
}
