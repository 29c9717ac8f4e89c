/** A member of a room: all pairs run at once, and other programs of this user can call the peers. */
import { Effect, Layer } from "effect"
import { Unreachable } from "../../Failure.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import * as LocalHttpServer from "../../observe/LocalHttpServer.ts"
import * as LoginExpiry from "../../observe/LoginExpiry.ts"
import type { PairSettings } from "../../settings/RoomSettings.ts"
import * as PrivateFile from "../../state/PrivateFile.ts"
import * as BridgeTools from "../bridge/BridgeTools.ts"
import * as MemberTools from "../serve/MemberTools.ts"
import * as CallSocket from "./CallSocket.ts"
import * as RoomPair from "./RoomPair.ts"

export const pairsOf = Effect.fnUntraced(function* (pairs: ReadonlyArray<PairSettings>) {
  const metrics = yield* AgentMetrics
  return pairs.flatMap((pair) => {
    const { meeting } = pair.settings
    return meeting._tag === "Broker" ? [new RoomPair.RoomPair(pair, meeting, metrics)] : []
  })
})

/** Runs all pairs until their grants end. All have the same tools, except the bridge's, which belong to a channel. */
export const stand = Effect.fnUntraced(function* (settings: ReadonlyArray<PairSettings>, stateDir: string) {
  const metrics = yield* AgentMetrics
  const [first] = settings
  if (first === undefined) return
  yield* Effect.forkScoped(LoginExpiry.run(first.settings.bridge.credential))
  if (first.settings.metricsListen !== undefined)
    yield* Layer.build(LocalHttpServer.layer(first.settings.metricsListen, first.settings.bridge.credential))
  const pairs = yield* pairsOf(settings)
  metrics.room.pairs = pairs.map(({ status }) => status)
  yield* PrivateFile.folder(stateDir)
  yield* CallSocket.serving(stateDir, pairs)
  const tools = yield* MemberTools.make(first.settings.serving)
  const bridges = yield* BridgeTools.ofAll(settings.map(({ settings }) => settings))
  yield* Effect.forEach(pairs, (pair, index) => RoomPair.run(pair, [...tools, ...(bridges[index] ?? [])]), {
    concurrency: "unbounded",
    discard: true
  })
  return yield* new Unreachable({ detail: "The grants of all pairs have expired. Ask their operator for new ones." })
})
