/**
 * The relays that run now, by token. Bytes are counted while they flow; revocation and a closing access window cut every
 * relay of a token at once. A visitor whose agent breaks before its first byte is given to another one where that is safe.
 */
import type { ResetCode } from "@catenet/wire/frames/MuxReason"
import { StreamReset } from "@catenet/wire/transport/Carrier"
import { contained } from "@catenet/wire/transport/FaultBoundary"
import { splice, type SpliceCounters, type SpliceEnd } from "@catenet/wire/transport/Splice"
import { Context, Duration, Effect, Layer } from "effect"
import type { Duplex } from "node:stream"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import type { Delivered } from "../sessions/AgentSessions.ts"
import type { Tunnel } from "../sessions/Tunnel.ts"
import { Settings } from "../settings/Settings.ts"
import * as FailOver from "./FailOver.ts"
import { Meter } from "./Meter.ts"

/** What a relay serves: visitors of hosts, or clients of the mesh. */
export type Clientele = "browser" | "dataplane"

/** For those who count the bytes of what passes, and may cut it. */
export interface Watched {
  readonly counters: SpliceCounters
  readonly signal: AbortSignal
  /** Ends it when nothing moved for so long, instead of the limit of all relays. */
  readonly idleMillis?: number
}

export type CutReason = "revoked" | "window-closed" | "draining"

const resetBecause = (code: ResetCode, sentence: string) => new StreamReset({ code, sentence, by: "local" })

/** What its bytes are counted as. */
const kindOf = ({ carrier }: Delivered, clientele: Clientele) =>
  carrier === "tcp-fallback" ? "tcp_fallback" : clientele

const sentences: Record<CutReason, string> = {
  revoked: "this tunnel was revoked",
  "window-closed": "the access window has closed",
  draining: "this edge is stopping"
}

export class Relays extends Context.Service<
  Relays,
  {
    /**
     * Copies both ways until both directions have ended, an error, the idle limit, or a cut. Never fails. With `failOver` up to
     * two more agents are asked while none has said anything; it stays one relay.
     */
    readonly run: (
      agent: Delivered,
      visitor: Duplex,
      clientele: Clientele,
      failOver?: FailOver.FailOver
    ) => Effect.Effect<SpliceEnd>
    /** Copies between a visitor and another edge, under the same idle limit. It is no relay of this edge's own tunnels. */
    readonly pass: (visitor: Duplex, peer: Duplex, watched?: Watched) => Effect.Effect<SpliceEnd>
    readonly cut: (token: string, reason: CutReason) => void
    /** Cuts everything that runs. */
    readonly cutAll: (reason: CutReason) => void
    readonly active: () => number
    readonly passing: () => number
  }
>()("edge/relay/Relays") {
  static readonly make = Effect.gen(function* () {
    const { relayIdleSeconds } = yield* Settings
    const counters = yield* Counters
    const { report } = yield* ConnectionFaults
    const findAgent = yield* FailOver.make
    const live = new Map<string, Set<AbortController>>()
    const passing = new Set<AbortController>()
    const idleMillis = relayIdleSeconds === 0 ? undefined : Duration.toMillis(Duration.seconds(relayIdleSeconds))
    const limits = { onFault: report, ...(idleMillis === undefined ? {} : { idleMillis }) }
    let active = 0

    const enter = (tunnel: Tunnel) => {
      const controller = new AbortController()
      const ofToken = live.get(tunnel.token) ?? new Set()
      live.set(tunnel.token, ofToken.add(controller))
      active += 1
      tunnel.relays += 1
      tunnel.visits += 1
      counters.relays += 1
      return controller
    }

    const leave = (tunnel: Tunnel, controller: AbortController) => {
      const ofToken = live.get(tunnel.token)
      ofToken?.delete(controller)
      if (ofToken?.size === 0) live.delete(tunnel.token)
      active -= 1
      tunnel.relays -= 1
    }

    const cut = (token: string, reason: CutReason) => {
      for (const controller of live.get(token) ?? []) {
        counters.relaysCut += 1
        controller.abort(resetBecause(reason, sentences[reason]))
      }
    }

    /** The agent that serves the visitor, asked under the idle limit. */
    const open = Effect.fnUntraced(function* (
      first: Delivered,
      visitor: Duplex,
      failOver: FailOver.FailOver,
      meter: Meter,
      controller: AbortController
    ) {
      // A timer of the hot path, where a fiber would cost more. What moves until the first byte is only kept.
      const onIdle = () => controller.abort(resetBecause("idle", ""))
      const timer = idleMillis === undefined ? undefined : setTimeout(contained(report, onIdle), idleMillis).unref()
      const agent = yield* findAgent(first, failOver, { visitor, counters: meter, signal: controller.signal })
      clearTimeout(timer)
      return agent
    })

    return Relays.of({
      run: (first, visitor, clientele, failOver) =>
        Effect.acquireUseRelease(
          Effect.sync(() => enter(first.tunnel)),
          Effect.fnUntraced(function* (controller) {
            const meter = new Meter(first.tunnel.traffic, counters, kindOf(first, clientele))
            const agent = failOver === undefined ? first : yield* open(first, visitor, failOver, meter, controller)
            meter.kind = kindOf(agent, clientele)
            const options = { counters: meter, signal: controller.signal, ...limits }
            return yield* Effect.promise(() => splice(visitor, agent.stream, options))
          }),
          (controller) => Effect.sync(() => leave(first.tunnel, controller))
        ),
      pass: (visitor, peer, watched) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const controller = new AbortController()
            passing.add(controller)
            return controller
          }),
          ({ signal }) => {
            const options =
              watched === undefined
                ? { signal, ...limits }
                : { ...limits, ...watched, signal: AbortSignal.any([signal, watched.signal]) }
            return Effect.promise(() => splice(visitor, peer, options))
          },
          (controller) => Effect.sync(() => passing.delete(controller))
        ),
      cut,
      cutAll: (reason) => {
        for (const token of Array.from(live.keys())) cut(token, reason)
        for (const controller of passing) controller.abort(resetBecause(reason, sentences[reason]))
      },
      active: () => active,
      passing: () => passing.size
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer, ConnectionFaults.layer]))
}
