/**
 * The relays that run now, by token. Bytes are counted while they flow; revocation and a closing access window cut every
 * relay of a token at once.
 */
import type { Duplex } from "node:stream"
import { StreamReset } from "@catenet/wire/transport/Carrier"
import { splice, type SpliceCounters, type SpliceEnd } from "@catenet/wire/transport/Splice"
import { Context, Duration, Effect, Layer } from "effect"
import { Counters } from "../observe/Counters.ts"
import type { Delivered } from "../sessions/AgentSessions.ts"
import type { Traffic, Tunnel } from "../sessions/Tunnel.ts"
import { Settings } from "../Settings.ts"

/** Whom a relay serves: visitors of hosts, or clients of the mesh. */
export type Clientele = "browser" | "dataplane"

type Totals = Pick<Counters["Service"], "bytesToAgents" | "bytesToVisitors" | "bytesOf">

export type CutReason = "revoked" | "window-closed" | "draining"

export interface RelaysShape {
  /** Copies both ways until both directions have ended, an error, the idle limit, or a cut. Never fails. */
  readonly run: (agent: Delivered, visitor: Duplex, clientele: Clientele) => Effect.Effect<SpliceEnd>
  readonly cut: (token: string, reason: CutReason) => void
  readonly cutAll: (reason: CutReason) => void
  readonly active: () => number
}

/** Counts one relay, for its idle limit, and with it its tunnel and the edge. */
class Meter implements SpliceCounters {
  private readonly total: Traffic
  private readonly edge: Totals
  private readonly kind: keyof Totals["bytesOf"]
  private fromVisitor = 0
  private fromAgent = 0

  constructor(total: Traffic, edge: Totals, kind: keyof Totals["bytesOf"]) {
    this.total = total
    this.edge = edge
    this.kind = kind
  }

  get aToB() {
    return this.fromVisitor
  }

  set aToB(bytes: number) {
    const moved = bytes - this.fromVisitor
    this.fromVisitor = bytes
    this.total.aToB += moved
    this.edge.bytesToAgents += moved
    this.edge.bytesOf[this.kind] += moved
  }

  get bToA() {
    return this.fromAgent
  }

  set bToA(bytes: number) {
    const moved = bytes - this.fromAgent
    this.fromAgent = bytes
    this.total.bToA += moved
    this.edge.bytesToVisitors += moved
    this.edge.bytesOf[this.kind] += moved
  }
}

const SENTENCE: Record<CutReason, string> = {
  revoked: "this tunnel was revoked",
  "window-closed": "the access window has closed",
  draining: "this edge is stopping"
}

const make = Effect.gen(function* () {
  const { relayIdleSeconds } = yield* Settings
  const counters = yield* Counters
  const live = new Map<string, Set<AbortController>>()
  const idle = relayIdleSeconds === 0 ? {} : { idleMillis: Duration.toMillis(Duration.seconds(relayIdleSeconds)) }
  let active = 0

  const enter = (tunnel: Tunnel) => {
    const controller = new AbortController()
    const ofToken = live.get(tunnel.token) ?? new Set()
    live.set(tunnel.token, ofToken.add(controller))
    active += 1
    tunnel.relays += 1
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
      controller.abort(new StreamReset({ code: reason, sentence: SENTENCE[reason], by: "local" }))
    }
  }

  const shape: RelaysShape = {
    run: ({ carrier, stream, tunnel }, visitor, clientele) =>
      Effect.acquireUseRelease(
        Effect.sync(() => enter(tunnel)),
        ({ signal }) => {
          const kind = carrier === "tcp-fallback" ? "tcp_fallback" : clientele
          const meter = new Meter(tunnel.traffic, counters, kind)
          return Effect.promise(() => splice(visitor, stream, { counters: meter, signal, ...idle }))
        },
        (controller) => Effect.sync(() => leave(tunnel, controller))
      ),
    cut,
    cutAll: (reason) => {
      for (const token of Array.from(live.keys())) cut(token, reason)
    },
    active: () => active
  }
  return shape
})

export class Relays extends Context.Service<Relays, RelaysShape>()("edge/relay/Relays") {
  static readonly layer = Layer.effect(Relays, make)
}
