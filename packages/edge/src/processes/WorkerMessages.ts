/**
 * The messages between the main process of an edge and its workers, over the channel that Node gives a child process. They never
 * reach a command line or a log. Both ends are the same program, so an invalid message is a defect.
 */
import { Schema } from "effect"
import { RouteOrder } from "../routes/RouteOrder.ts"

const Pair = Schema.Struct({ cert: Schema.String, key: Schema.String })
const HostCertificates = Schema.Array(
  Schema.Struct({ host: Schema.String, certificate: Schema.NullOr(Pair), challenge: Schema.NullOr(Pair) })
)

/** A key for session tickets, base64, and the epoch milliseconds from which it seals. */
const TicketKey = Schema.Struct({ bytes: Schema.Uint8ArrayFromBase64, from: Schema.Finite })
const TicketKeys = Schema.Struct({ own: Schema.Array(TicketKey), given: Schema.Array(TicketKey) })

const Count = Schema.Int

/** Log levels, case-insensitive. */
export const severities = ["Fatal", "Error", "Warn", "Info", "Debug", "Trace"] as const
const Severity = Schema.Literals(severities)
const LeastLevel = Schema.Literals(["All", ...severities, "None"])

/** A worker's increments since its last report, and its current state. */
export const WorkerReport = Schema.Struct({
  /** By the names of `Counters`. */
  counted: Schema.Record(Schema.String, Count),
  /** Bytes by tunnel, from visitors and to visitors, and how many visitors were new. */
  traffic: Schema.Array(Schema.Tuple([Schema.String, Count, Count, Count])),
  sheds: Schema.Array(Schema.Tuple([Schema.String, Schema.Literals(["connections", "address", "descriptors"]), Count])),
  /** Rows of the audit log. */
  audit: Schema.Array(Schema.Tuple([Count, Schema.String, Schema.String, Schema.String, Schema.String, Schema.String])),
  /** Parked slots by tunnel; tunnels without slots are left out. */
  parked: Schema.Array(Schema.Tuple([Schema.String, Count])),
  agentConnections: Count,
  visitors: Count,
  connections: Count,
  relays: Count,
  /** Listeners that have stopped accepting. */
  stalled: Schema.Array(Schema.String)
})
export type WorkerReport = typeof WorkerReport.Type

export const ToWorker = Schema.TaggedUnion({
  /** The answer to `Hello`: the whole state. Later orders change it. */
  Init: {
    /** The configuration of the edge, with the bound addresses. */
    variables: Schema.Record(Schema.String, Schema.String),
    index: Schema.Int,
    /** 16 hex digits that identify the running edge to agents. */
    edge: Schema.String,
    /** Folder of the sockets between the processes. */
    folder: Schema.String,
    logLevel: LeastLevel,
    /** The root of the internal CA, base64 of its DER, and the leaf in force. */
    root: Schema.String,
    leaf: Pair,
    /** Certificates by the name of their file. */
    pairs: Schema.Array(Schema.Tuple([Schema.String, Pair])),
    /** Those that the control plane has ordered. */
    hosts: HostCertificates,
    ticketKeys: TicketKeys,
    orders: Schema.Array(RouteOrder)
  },
  Apply: { id: Schema.Int, order: RouteOrder },
  LeafReplaced: { pair: Pair },
  PairReplaced: { certificate: Schema.String, pair: Pair },
  HostCertificatesChanged: { changed: HostCertificates },
  TicketKeysChanged: { keys: TicketKeys },
  /** The answer to `AskOwnership`. */
  Ownership: { id: Schema.Int, owns: Schema.Boolean },
  /** Shut down as an edge does, send `Drained`, and wait to be ended. */
  Drain: {}
})
export type ToWorker = typeof ToWorker.Type
export type Init = Extract<ToWorker, { readonly _tag: "Init" }>

export const ToMain = Schema.TaggedUnion({
  Hello: {},
  /** All public listeners are open. */
  Ready: {},
  Applied: { id: Schema.Int },
  /** Asks whether the key owns the tunnel. */
  AskOwnership: { id: Schema.Int, token: Schema.String, key: Schema.String },
  OwnerSeen: { token: Schema.String },
  Reported: { report: WorkerReport },
  Log: { level: Severity, message: Schema.String, fields: Schema.Record(Schema.String, Schema.String) },
  Drained: {}
})
export type ToMain = typeof ToMain.Type
