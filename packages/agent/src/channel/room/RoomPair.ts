/** A member of a room with one of its peers: it meets the peer, stands in a session with it, and meets it again when that is over. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Deferred, Effect, Redacted } from "effect"
import { type AgentMetrics as Metrics, AgentMetrics, type Pair } from "../../observe/AgentMetrics.ts"
import * as RoomPairMetrics from "../../observe/RoomPairMetrics.ts"
import type { PairSettings } from "../../settings/RoomSettings.ts"
import type * as RpcClient from "../rpc/RpcClient.ts"
import type { Tool } from "../rpc/Tool.ts"
import { RejoinBackoff } from "../serve/RejoinBackoff.ts"
import * as ServeLoop from "../serve/ServeLoop.ts"
import * as ChannelSession from "../session/ChannelSession.ts"
import type * as FallbackDialer from "../session/FallbackDialer.ts"
import * as SessionLifecycle from "../session/SessionLifecycle.ts"
import * as PairSession from "./PairSession.ts"

/** All pairs of a member dial the same edge, so that each waits for longer while it is gone. */
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
    this.status = RoomPairMetrics.pairOf({ name, peer: Hex.encode(peer), channel }, metrics)
    this.member = {
      role: settings.role,
      noise: native.x25519.keyPair(Redacted.value(settings.noiseKey)),
      configured: undefined,
      expected: peer,
      isUpgrading: broker.isUpgrading
    }
  }

  /** Calls the peer, in the session that there is or in the next one. */
  get client(): Effect.Effect<RpcClient.RpcClient> {
    return Effect.suspend(() => Deferred.await(this.#client))
  }

  /** The peer is called by this name, or by its key. */
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
  const metrics = RoomPairMetrics.of(yield* AgentMetrics, status)
  const { admit, serve } = meet(pair, (session) =>
    PairSession.stand(session, { tools, using: (client) => pair.using(client) })
  )
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
