/**
 * The session of a pair in a room: both members serve on it and both call, for as long as they are there. An empty message now and
 * then keeps it, and finds out when the other machine is gone without a word.
 */
import { Effect } from "effect"
import * as RpcClient from "../rpc/RpcClient.ts"
import { split } from "../rpc/RpcDemux.ts"
import * as RpcServer from "../rpc/RpcServer.ts"
import type { Tool } from "../rpc/Tool.ts"
import * as ChannelSession from "../session/ChannelSession.ts"
import { SessionTermination } from "../session/SessionTermination.ts"

const keepAliveEvery = "20 seconds"
/** So many times without a byte of the peer, and the session is over. */
const maxSilent = 3

export interface PairSessionOptions {
  readonly tools: ReadonlyArray<Tool>
  /** Gets the client of the session, and undefined when that is over. */
  readonly using: (client: RpcClient.RpcClient | undefined) => void
}

export const stand = Effect.fn("PairSession.stand")(function* (
  session: ChannelSession.ChannelSession,
  { tools, using }: PairSessionOptions
) {
  const { answers, requests } = split(session.stream)
  /** Requests that run, in either direction: their silence is not that of a machine that is gone. */
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
