/**
 * Registration state and traffic counters of the running agent, as numbers and strings in memory; `MetricsPage` and
 * `LocalHttpServer` render them.
 */
import type { Name as KeyExchange } from "@catenet/crypto/admission/KeyExchange"
import type { ServiceState } from "@catenet/domain/enrollment/AgentStatus"
import type { RuleName } from "@catenet/domain/rules/Rules"
import type { OriginEcho } from "@catenet/wire/frames/MuxEcho"
import type { OnFault } from "@catenet/wire/transport/FaultBoundary"
import * as ProcessFaults from "@catenet/wire/transport/ProcessFaults"
import { Clock, Context, Effect, Layer, Random } from "effect"
import type { Carrier } from "../settings/TunnelTransports.ts"
import type { Inspected } from "./Inspection.ts"
import type { RelayNodeCounts } from "./RelayNodeCounts.ts"
import * as UpdateState from "./UpdateState.ts"

/** The carriers the contract names. Our multiplexed connection and the parked slots are both TLS over TCP. */
export const transports = ["quic", "tcp-fallback", "masque", "none"] as const
export type Transport = (typeof transports)[number]

/** HTTP requests of visitors; undefined where they are not counted. */
export interface Requests {
  count: number | undefined
}

/** Traffic since the start. Mutable: `splice` counts bytes while they flow. */
export interface Traffic {
  tunnelsOpened: number
  tunnelsFailed: number
  /** Byte counts of ended streams; those of running streams are added on reading. */
  bytesToOrigin: number
  bytesToClient: number
  handshakes: number
  handshakeMillis: number
  reconnects: number
}

/** The counters of one running stream, in the shape that `splice` counts into: a is the client, b the origin. */
export interface StreamCounters {
  aToB: number
  bToA: number
}

/** The transport of a channel session: a connection strategy to the edge, or a direct one. */
export type ChannelCarrier =
  | "broker"
  | "relay"
  | "quic"
  | "front-door"
  | "camouflage"
  | "websocket"
  | "direct"
  | "direct-quic"
  | "gate"
  | "circuit"

/** A member's progress with its next peer. */
export const channelStates = ["joining", "waiting", "refused", "unreachable"] as const
export interface Joining {
  readonly state: (typeof channelStates)[number]
  readonly reason: string | undefined
}

/** A member's state in a pair of a room. */
export interface Pair {
  readonly name: string
  /** The holder at the other end, and the channel, in hex. */
  readonly peer: string
  readonly channel: string
  state: Joining["state"] | "in-session"
  reason: string | undefined
  carrier: ChannelCarrier | undefined
  keyExchange: KeyExchange | undefined
  /** Sessions since the start. */
  sessions: number
  /** Unix milliseconds at which this state began. */
  since: number
}

export type ChannelCounts = Readonly<Record<"total" | "open", number>>

export interface Session {
  /** 16 hex characters, random for each process. */
  readonly id: string
  readonly startedAt: number
  /** Number of the latest registration attempt; undefined before the first. */
  conn: number | undefined
  transport: Transport
  carrier: Carrier | undefined
  /** Registrations that the edge accepted and that are alive. */
  live: number
  registeredSince: number | undefined
  lastSeen: number | undefined
  /** Consecutive registrations refused by the edge. */
  refusals: number
  lastError: string | undefined
}

/** The state of the host name's certificate, in words that continue "the certificate", since a time in Unix milliseconds. */
export interface CertificateNote {
  current: { readonly text: string; readonly since: number } | undefined
}

/** The origin's state when an edge last asked for it. */
export interface Probe {
  last: { readonly echo: OriginEcho; readonly at: number } | undefined
}

/** One of the services of an agent. */
export interface ServiceFacts {
  readonly name: string
  readonly state: typeof ServiceState.Type
  readonly hostname: string | undefined
  readonly url: string | undefined
  readonly origin: string
  /** Why it is not served. */
  readonly reason: string | undefined
  readonly metrics: AgentMetrics["Service"]
}

/** Reads the services of an agent that was configured by a file of services; undefined in other processes. */
export interface ServicesReader {
  read: (() => ReadonlyArray<ServiceFacts>) | undefined
}

/** Reads the relay node's counters; undefined in a process that is none. */
export interface RelayNodeReader {
  read: (() => RelayNodeCounts) | undefined
}

const newSession = (id: string, startedAt: number): Session => ({
  id,
  startedAt,
  conn: undefined,
  transport: "none",
  carrier: undefined,
  live: 0,
  registeredSince: undefined,
  lastSeen: undefined,
  refusals: 0,
  lastError: undefined
})

/** Sessions by their kind. What `began` returns ends one. */
const counting = <K>() => {
  const counts = new Map<K, ChannelCounts>()
  const add = (kind: K, total: number, open: number): (() => void) => {
    const before = counts.get(kind) ?? { total: 0, open: 0 }
    counts.set(kind, { total: before.total + total, open: before.open + open })
    return () => add(kind, 0, -1)
  }
  return { counts, began: (kind: K) => add(kind, 1, 1) }
}

const noTraffic = (): Traffic => ({
  tunnelsOpened: 0,
  tunnelsFailed: 0,
  bytesToOrigin: 0,
  bytesToClient: 0,
  handshakes: 0,
  handshakeMillis: 0,
  reconnects: 0
})

export class AgentMetrics extends Context.Service<
  AgentMetrics,
  {
    readonly session: Session
    readonly traffic: Traffic
    readonly requests: Requests
    /** Undefined where nobody inspects the requests. */
    readonly inspection: Inspected
    /** Whether the agent is stopping and finishes open requests. */
    readonly draining: { is: boolean }
    readonly probe: Probe
    /** Requests that rules refused, by rule. */
    readonly refusals: Map<RuleName, number>
    readonly toolCalls: { readonly byOutcome: Map<string, number>; millis: number; bytes: number }
    readonly certificate: CertificateNote
    /** What is said of the settings at the start. */
    readonly settings: { warnings: ReadonlyArray<string> }
    readonly update: UpdateState.UpdateState
    readonly relayNode: RelayNodeReader
    readonly services: ServicesReader
    /** The traffic with the bytes of running streams. */
    readonly total: () => Traffic
    /** Counters of one stream, included in `total` until `close` folds them in. */
    readonly openStream: () => { readonly counters: StreamCounters; readonly close: () => void }
    /** Streams being served, including those waiting for their client's first byte. */
    readonly tasksLive: () => number
    readonly taskBegan: () => void
    readonly taskEnded: () => void
    /** Counts a channel session with this transport and key exchange; the returned function ends it. */
    readonly channelOpened: (carrier: ChannelCarrier, keyExchange: KeyExchange) => () => void
    /** Counts a mesh client's session with this key exchange; the returned function ends it. */
    readonly meshOpened: (keyExchange: KeyExchange) => () => void
    /** Sets the progress of joining. */
    readonly joining: (state: Joining["state"], reason?: string) => void
    /** Undefined in a process that is no channel member. */
    readonly channel: () => Joining | undefined
    /** The pairs of a room; undefined in every other process. */
    readonly room: { pairs: ReadonlyArray<Pair> | undefined }
    /** Sessions of channels by their carrier; empty in a process that has had none. */
    readonly channels: () => ReadonlyMap<ChannelCarrier, ChannelCounts>
    /** The same by their key exchange. */
    readonly keyExchanges: () => ReadonlyMap<KeyExchange, ChannelCounts>
    /** Sessions of mesh clients by their key exchange; empty in a process that has had none. */
    readonly meshKeyExchanges: () => ReadonlyMap<KeyExchange, ChannelCounts>
    /** Counts an exception thrown in a connection's callback; the caller ends that connection. */
    readonly fault: OnFault
    /** Reports it and destroys the connection. */
    readonly ending: (connection: { readonly destroy: () => unknown }) => OnFault
    readonly faults: () => number
    /** Called when anything arrives from the edge. */
    readonly heard: () => void
    /** Unix milliseconds. */
    readonly now: () => number
  }
>()("agent/observe/AgentMetrics") {
  static readonly make = Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const now = () => clock.currentTimeMillisUnsafe()
    const digits = yield* Effect.replicateEffect(Random.nextIntBetween(0, 15), 16)
    const session = newSession(digits.map((digit) => digit.toString(16)).join(""), now())
    const traffic = noTraffic()
    let faults = 0
    const { ending, report } = yield* ProcessFaults.make(() => {
      faults += 1
    })
    let tasks = 0
    let channel: Joining | undefined
    const channels = counting<ChannelCarrier>()
    const [keyExchanges, meshKeyExchanges] = [counting<KeyExchange>(), counting<KeyExchange>()]
    const running = new Set<StreamCounters>()
    const made: AgentMetrics["Service"] = {
      session,
      traffic,
      requests: { count: undefined },
      inspection: { current: undefined, ofService: undefined },
      draining: { is: false },
      probe: { last: undefined },
      settings: { warnings: [] },
      refusals: new Map(),
      toolCalls: { byOutcome: new Map(), millis: 0, bytes: 0 },
      certificate: { current: undefined },
      update: UpdateState.initial(),
      relayNode: { read: undefined },
      services: { read: undefined },
      room: { pairs: undefined },
      total: () => {
        let { bytesToOrigin, bytesToClient } = traffic
        for (const { aToB, bToA } of running) {
          bytesToOrigin += aToB
          bytesToClient += bToA
        }
        return { ...traffic, bytesToOrigin, bytesToClient }
      },
      openStream: () => {
        const counters = { aToB: 0, bToA: 0 }
        running.add(counters)
        return {
          counters,
          close: () => {
            if (!running.delete(counters)) return
            traffic.bytesToOrigin += counters.aToB
            traffic.bytesToClient += counters.bToA
          }
        }
      },
      tasksLive: () => tasks,
      taskBegan: () => {
        tasks++
      },
      taskEnded: () => {
        tasks--
      },
      channelOpened: (carrier, keyExchange) => {
        const ends = [channels.began(carrier), keyExchanges.began(keyExchange)]
        return () => ends.forEach((end) => end())
      },
      meshOpened: meshKeyExchanges.began,
      joining: (state, reason) => {
        channel = { state, reason }
      },
      channel: () => channel,
      channels: () => channels.counts,
      keyExchanges: () => keyExchanges.counts,
      meshKeyExchanges: () => meshKeyExchanges.counts,
      fault: report,
      ending,
      faults: () => faults,
      heard: () => {
        session.lastSeen = now()
      },
      now
    }
    return made
  })
  static readonly layer = Layer.effect(this, this.make)
}
