/**
 * Reports to the control plane which tunnels have an agent here, when the first one comes and when the last one goes, so that other
 * edges find them. What changes within a quarter of a second goes in one report.
 */
import { AgentPresence, EdgeId, reportedTunnels } from "@catenet/domain/edges/EdgeNode"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Queue, Schema } from "effect"
import { type ControlPlaneClient, statusOf } from "../control/ControlPlane.ts"
import { Routes } from "../routes/Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../settings/Settings.ts"

const gathered = "250 millis"
const again = "3 seconds"
const readToken = Schema.decodeUnknownSync(RoutingToken)

/** `begin` reports everything, for a control plane that knows nothing of this edge; `run` never ends. */
export const make = Effect.fn("PresenceReports.make")(function* (controlPlane: ControlPlaneClient) {
  const { edgeId } = yield* Settings
  const agents = yield* AgentSessions
  const routes = yield* Routes
  const changed = new Set<string>()
  const wake = yield* Queue.sliding<void>(1)
  /** `isTaken`: other makes do not know this call. */
  const state = { whole: true, isTaken: false }
  const change = ({ token }: { readonly token: string }) => {
    // An agent may register any token; those of no tunnel would be a list without an end.
    if (!state.isTaken || !routes.knows(token)) return
    changed.add(token)
    Queue.offerUnsafe(wake, undefined)
  }
  agents.observe({ connected: change, carried: () => undefined, disconnected: change })

  const send = Effect.gen(function* () {
    if (state.whole)
      for (const { connected, token } of agents.all()) if (connected && routes.knows(token)) changed.add(token)
    const tokens = Array.from(changed).slice(0, reportedTunnels)
    const isPresent = (token: string) => agents.tunnel(token)?.connected === true
    const payload = new AgentPresence({
      edge_id: EdgeId.make(edgeId),
      whole: state.whole,
      present: tokens.filter(isPresent).map((token) => readToken(token)),
      absent: tokens.filter((token) => !isPresent(token)).map((token) => readToken(token))
    })
    state.whole = false
    for (const token of tokens) changed.delete(token)
    yield* controlPlane.presence({ payload }).pipe(
      Effect.tapError((error) =>
        Effect.sync(() => {
          state.isTaken = statusOf(error) !== 404
          if (!state.isTaken) return changed.clear()
          if (payload.whole) state.whole = true
          for (const token of tokens) changed.add(token)
        })
      )
    )
  })
  const reports = Effect.gen(function* () {
    yield* Queue.take(wake)
    yield* Effect.sleep(gathered)
    do {
      const sent = yield* Effect.isSuccess(send)
      if (!sent && state.isTaken) yield* Effect.sleep(again)
    } while (state.isTaken && (state.whole || changed.size > 0))
  })
  return {
    begin: Effect.sync(() => {
      state.whole = true
      state.isTaken = true
      Queue.offerUnsafe(wake, undefined)
    }),
    run: Effect.forever(reports).pipe(retryForever("reporting where agents are"))
  }
})
