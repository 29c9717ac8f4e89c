/** One pair of a room: meets the peer, keeps a session with it, and meets it again afterwards. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Deferred, Effect, Redacted } from "effect"
import { AgentMetrics, type AgentMetrics as Metrics, type Pair } from "../../observe/AgentMetrics.ts"
import type { PairSettings } from "../../settings/RoomSettings.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import { split } from "../rpc/RpcDemux.ts"
import * as RpcServer from "../rpc/RpcServer.ts"
import type { Tool } from "../rpc/Tool.ts"
import { RejoinBackoff } from "../serve/RejoinBackoff.ts"
import * as ServeLoop from "../serve/ServeLoop.ts"
import { SessionTermination } from "../session/ChannelFailure.ts"
import * as ChannelSession from "../session/ChannelSession.ts"
import type * as FallbackDialer from "../session/FallbackDialer.ts"
import * as SessionLifecycle from "../session/SessionLifecycle.ts"

// The agent's metrics as one pair of a room changes them: joins and sessions are the pair's.

/** A pair that has not joined yet. */
const pairOf = (
  facts: Pick<Pair, "channel" | "name" | "peer">,
  { now }: Pick<AgentMetrics["Service"], "now">
): Pair => ({
  ...facts,
  state: "joining",
  reason: undefined,
  carrier: undefined,
  keyExchange: undefined,
  sessions: 0,
  since: now()
})

const enter = (pair: Pair, now: number, state: Pair["state"], reason: string | undefined) => {
  if (pair.state !== state) pair.since = now
  pair.state = state
  pair.reason = reason
}

/** The same metrics for this pair, which is changed. */
const pairMetrics = (metrics: AgentMetrics["Service"], pair: Pair): AgentMetrics["Service"] => ({
  ...metrics,
  joining: (state, reason) => enter(pair, metrics.now(), state, reason),
  channelOpened: (carrier, keyExchange) => {
    const ended = metrics.channelOpened(carrier, keyExchange)
    pair.sessions++
    pair.carrier = carrier
    pair.keyExchange = keyExchange
    enter(pair, metrics.now(), "in-session", undefined)
    return () => {
      ended()
      pair.carrier = undefined
      pair.keyExchange = undefined
      enter(pair, metrics.now(), "joining", undefined)
    }
  }
})

/**
 * A pair's session: both members serve and call on it while they are present. Periodic empty messages keep it alive and detect a
 * dead peer.
 */
const keepAliveEvery = "20 seconds"
/** So many times without a byte of the peer, and the session is over. */
const maxSilent = 3

export interface PairSessionOptions {
  readonly tools: ReadonlyArray<Tool>
  /** Receives the session's client, and undefined when the session is over. */
  readonly using: (client: RpcClient.RpcClient | undefined) => void
}

export const stand = Effect.fn("RoomPair.stand")(function* (
  session: ChannelSession.ChannelSession,
  { tools, using }: PairSessionOptions
) {
  const { answers, requests } = split(session.stream)
  /** Running requests in either direction: while there are any, silence does not mean that the peer is dead. */
  let running = 0
  const client = RpcClient.make(answers)

  const alive = Effect.gen(function* () {
    let lastReceived = 0
    let silent = 0
    while (true) {
      yield* Effect.sleep(keepAliveEvery)
      const { received } = session.bytes()
      silent = received === lastReceived && running === 0 ? silent + 1 : 0
      lastReceived = received
      if (silent >= maxSilent)
        return yield* new SessionTermination({ why: "nothing has come from the peer for a minute" })
      session.stream.begin()
    }
  })

  using({
    request: (method, params, report) =>
      Effect.suspend(() => {
        running++
        return Effect.ensuring(
          client.request(method, params, report),
          Effect.sync(() => running--)
        )
      })
  })
  const serving = RpcServer.serve(requests, {
    tools: () => tools,
    caller: { noiseKey: session.peerKey, rights: session.peerRights },
    isStanding: true,
    working: (isWorking) => {
      running += isWorking ? 1 : -1
    }
  })
  yield* Effect.raceFirst(serving, alive).pipe(Effect.ensuring(Effect.sync(() => using(undefined))))
  yield* ChannelSession.close(session)
})

/** All pairs of a member dial the same edge, so each waits longer while it is unreachable. */
const failedMillis = 2_000

export class RoomPair {
  readonly name: string
  readonly peer: Uint8Array
  readonly status: Pair
  readonly broker: FallbackDialer.Broker
  readonly member: ChannelSession.Member
  #client = Deferred.makeUnsafe<RpcClient.RpcClient>()

  constructor({ name, peer, settings }: PairSettings, broker: FallbackDialer.Broker, metrics: Metrics["Service"]) {
    this.name = name
    this.peer = peer
    this.broker = broker
    const channel = Hex.encode(broker.grant.channel)
    this.status = pairOf({ name, peer: Hex.encode(peer), channel }, metrics)
    this.member = {
      role: settings.role,
      noise: native.x25519.keyPair(Redacted.value(settings.noiseKey)),
      configured: undefined,
      expected: peer,
      isUpgrading: broker.isUpgrading
    }
  }

  /** Calls the peer in the current session or in the next one. */
  get client(): Effect.Effect<RpcClient.RpcClient> {
    return Effect.suspend(() => Deferred.await(this.#client))
  }

  /** Whether this is the peer's name or key. */
  isCalled(text: string): boolean {
    return text === this.name || text.toLowerCase() === Hex.encode(this.peer)
  }

  using(client: RpcClient.RpcClient | undefined) {
    if (client === undefined) this.#client = Deferred.makeUnsafe()
    else Deferred.doneUnsafe(this.#client, Effect.succeed(client))
  }
}

/** The next session with the peer, which lives as long as `body`. */
export const meet = <E, R>(
  { broker, member }: RoomPair,
  body: (session: ChannelSession.ChannelSession) => Effect.Effect<void, E, R>
) => ({
  admit: ChannelSession.meet(broker, member, undefined),
  serve: (met: ChannelSession.Met) =>
    Effect.flatMap(ChannelSession.open(met, member), (session) =>
      SessionLifecycle.use(session, broker.grant, body(session))
    )
})

/** Until the grant ends, which is the end of this pair alone. */
export const run = Effect.fn("RoomPair.run")(function* (pair: RoomPair, tools: ReadonlyArray<Tool>) {
  const { broker, name, status } = pair
  const metrics = pairMetrics(yield* AgentMetrics, status)
  const { admit, serve } = meet(pair, (session) => stand(session, { tools, using: (client) => pair.using(client) }))
  yield* Effect.raceFirst(
    ServeLoop.run(1, admit, serve, new RejoinBackoff({ failed: failedMillis })),
    SessionLifecycle.expiry(broker.grant.expiresAt)
  ).pipe(
    Effect.provideService(AgentMetrics, metrics),
    Effect.catchTag("SessionTermination", ({ message }) => {
      metrics.joining("refused", message)
      return Effect.logWarning(message)
    }),
    Effect.annotateLogs("pair", name)
  )
}, Effect.scoped)
