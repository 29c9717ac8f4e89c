/** A registration that an edge has accepted, over any transport. */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Effect, Exit, Scope } from "effect"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"

/** Why a registration ended. `final` when the edge took it back for good. */
export interface LinkEnd {
  readonly reason: string
  readonly final: boolean
  /** The edge revoked the routing token; another may have replaced it. */
  readonly isRevoked?: boolean
  /** The edge went silent; the transport may no longer get through. */
  readonly isSilent?: boolean
}

export interface EdgeLink {
  /** `host:port` of the edge. */
  readonly edge: string
  readonly carrier: Carrier
  /** The edge process at the other end, if the edge has several. */
  readonly edgeProcess: EdgeProcess | undefined
  /** The edge lets mesh clients in by visitor tokens. */
  readonly visitorTokens: boolean
  /** Waits for the end of the registration. */
  readonly ended: Effect.Effect<LinkEnd>
  /** For a transport that does not report when the other side was killed. */
  readonly inquiry?: {
    /** Whether clients use it, or did a moment ago. */
    isUsed(): boolean
    /** Asks the edge, and waits for the response. */
    readonly answered: Effect.Effect<void>
  }
  /** A counter of everything that arrives from the edge. */
  received(): number
  /** Asks the edge to open no more streams; running ones continue. */
  retire(): void
  /** After `retire`: waits until the last stream has ended. */
  readonly drained: Effect.Effect<void>
  /** Ends everything immediately. */
  close(): void
}

/** Lets the streams of an ended link finish, then closes it and its scope. */
export const discard = Effect.fnUntraced(function* (link: EdgeLink, scope: Scope.Closeable) {
  link.retire()
  yield* link.drained
  link.close()
  yield* Scope.close(scope, Exit.void)
})

const tickMillis = 15_000

/** Marks the edge as alive whenever something has arrived since the last tick. Returns how that ends. */
export const listen = (
  link: Pick<EdgeLink, "received">,
  metrics: Pick<AgentMetrics["Service"], "heard">
): (() => void) => {
  let seen = link.received()
  const timer = Scheduler.setInterval(() => {
    const now = link.received()
    if (now !== seen) metrics.heard()
    seen = now
  }, tickMillis)
  return () => Scheduler.clearInterval(timer)
}
