/**
 * Whether tunnels reach their origins. An agent that answers echoes is asked when it connects, then every quarter of a minute, and
 * more often while the tunnel is down or watched. A tunnel has one open echo at a time, which costs one frame in each direction
 * and no fiber, so ten thousand idle tunnels cost almost nothing.
 */
import { look, type Reachability, type Sight } from "@catenet/domain/tunnels/Reachability"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { retryForever } from "@catenet/platform/RetryForever"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { guarded } from "@catenet/wire/transport/FaultBoundary"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import type { AgentPool } from "./AgentPool.ts"
import { AgentSessions } from "./AgentSessions.ts"
import { EchoRounds } from "./EchoRounds.ts"

/** Called when the state of a tunnel changes. */
export type ReachObserver = (tunnel: AgentPool, reach: Reachability, at: UnixSeconds) => void

const sweepEvery = "500 millis"

export class OriginEchoes extends Context.Service<
  OriginEchoes,
  {
    /** The state of a tunnel. With `watched` it is asked more often for the next seconds. */
    readonly reach: (tunnel: AgentPool | undefined, watched?: boolean) => Reachability
    /** Number of answers by result; `silence`: none in time. */
    readonly answers: () => ReadonlyMap<string, number>
    readonly observe: (observer: ReachObserver) => void
  }
>()("edge/sessions/OriginEchoes") {
  static readonly make = Effect.gen(function* () {
    const agents = yield* AgentSessions
    const { report } = yield* ConnectionFaults
    const clock = yield* Clock.Clock
    const seen = new WeakMap<AgentPool, Reachability>()
    const observers = new Set<ReachObserver>()
    const answers = new Map<string, number>()
    const seconds = (millis: number) => UnixSeconds.make(toUnixSeconds(millis))

    const settle = (tunnel: AgentPool, sight: Sight): Reachability => {
      const at = seconds(clock.currentTimeMillisUnsafe())
      const before = seen.get(tunnel)
      const reach = look(before, sight, at)
      if (reach === before) return reach
      seen.set(tunnel, reach)
      for (const observer of observers) observer(tunnel, reach, at)
      return reach
    }

    const goneSince = ({ lastSeen }: AgentPool): Sight => ({
      _tag: "AgentGone",
      lastSeen: lastSeen === undefined ? null : seconds(lastSeen)
    })

    const rounds = new EchoRounds({
      now: () => clock.currentTimeMillisUnsafe(),
      guarded: (act) => guarded(report, act),
      answered: (verdict) => void answers.set(verdict, (answers.get(verdict) ?? 0) + 1),
      found: (tunnel, sight) => void settle(tunnel, tunnel.connected ? sight : goneSince(tunnel))
    })

    agents.observe({
      connected: (tunnel) => {
        settle(tunnel, { _tag: "Connected" })
        rounds.begin(tunnel)
      },
      carried: (tunnel) => rounds.begin(tunnel),
      disconnected: (tunnel) => {
        rounds.end(tunnel)
        settle(tunnel, goneSince(tunnel))
      }
    })
    const sweep = Effect.sync(() => rounds.sweep(agents.all()))
    const sweeping = Effect.repeat(sweep, Schedule.spaced(sweepEvery))
    yield* Effect.forkScoped(sweeping.pipe(retryForever("asking agents for their origins")))

    const nothing = look(undefined, { _tag: "AgentGone", lastSeen: null }, UnixSeconds.make(0))
    return OriginEchoes.of({
      reach: (tunnel, watched = false) => {
        if (tunnel === undefined) return nothing
        if (!tunnel.connected) return seen.get(tunnel) ?? settle(tunnel, goneSince(tunnel))
        if (watched) rounds.watch(tunnel)
        return seen.get(tunnel) ?? settle(tunnel, { _tag: "Connected" })
      },
      answers: () => answers,
      observe: (observer) => void observers.add(observer)
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([AgentSessions.layer, ConnectionFaults.layer])
  )
}
