/** What an agent reports at its local status address. */
import { Effect, Schema } from "effect"
import { Count, UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"

// An enrolled agent program: the name it gives itself and the tenant that its join token was issued for.

/** Stable over restarts of one agent; by default the tunnel's id. */
export const AgentId = line(255).pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type

/** Who a join token was issued for; for a tunnel of the portal it is the owner's subject. */
export const Tenant = line(255).pipe(Schema.brand("Tenant"))
export type Tenant = typeof Tenant.Type

/** The version that an agent program gives itself, without blanks. */
export const AgentVersion = Schema.String.check(
  pattern(/^[\x21-\x7e]{1,64}$/u, "a version of 1 to 64 printable characters")
)

/** How the agent is connected to its edge at present. */
export const AgentTransport = Schema.Literals(["quic", "tcp-fallback", "masque", "none"])
export type AgentTransport = typeof AgentTransport.Type

/** Two are `tcp-fallback`: one connection for all visitors, or one for each. The control plane says the same of its tunnels. */
const AgentCarrier = Schema.Literals(["mux", "quic", "slots"])

/** Where the agent's bearer token comes from, and whether it is still good. */
export const CredentialState = Schema.Literals([
  "env",
  "stored",
  "stored-expired-refreshable",
  "stored-expired",
  "none"
])
export type CredentialState = typeof CredentialState.Type

/** How the origin answered when the edge last asked for it. `http_status`: of an answer that was neither 2xx nor 3xx. */
const OriginProbe = Schema.Struct({
  origin: Schema.String,
  verdict: Schema.String,
  http_status: Schema.NullOr(Count),
  took_ms: Count,
  secs_ago: Count
})

/** `session` is random a process; `conn` counts registration attempts and is null before the first. */
/** `broker` and `relay` are the edge's own ports, `quic` the same on UDP, `front-door` and `camouflage` its port 443 under two names. */
const ChannelCarrier = Schema.Literals([
  "broker",
  "relay",
  "quic",
  "front-door",
  "camouflage",
  "websocket",
  "direct",
  "direct-quic",
  "gate",
  "circuit"
])

const ChannelSessions = Schema.Struct({ carrier: ChannelCarrier, total: Count, open: Count })

/** How the keys of a session were agreed: by X25519 with ML-KEM-768 beside it, or by X25519 alone. */
const KeyExchange = Schema.Literals(["x25519mlkem768", "x25519"])

const KeyExchanges = Schema.Struct({ key_exchange: KeyExchange, total: Count, open: Count })

const MemberState = Schema.Literals(["joining", "waiting", "in-session", "refused", "unreachable"])

/** A pair of a room: the holder at the other end, and for how long this state has lasted. */
const ChannelPair = Schema.Struct({
  name: Schema.String,
  peer: Schema.String,
  channel: Schema.String,
  state: MemberState,
  secs: Count,
  sessions: Count,
  carrier: Schema.optionalKey(ChannelCarrier),
  key_exchange: Schema.optionalKey(KeyExchange),
  reason: Schema.optionalKey(Schema.String)
})

/** What this agent does for the certificate of its host name, and for how long. */
const CertificateReport = Schema.Struct({ words: Schema.String, secs: Count })

/** `waiting`: for DNS to prove its host name. `failed`: given up until the file changes. */
export const ServiceState = Schema.Literals(["starting", "waiting", "online", "offline", "failed", "leaving"])

/** One of the services of an agent: where visitors reach it, and how many requests it has had. */
const ServiceReport = Schema.Struct({
  name: Schema.String,
  state: ServiceState,
  /** What the edge's last probe of its origin found. */
  last_probe: Schema.optionalKey(OriginProbe),
  hostname: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  origin: Schema.String,
  requests: Count,
  open: Count,
  reason: Schema.optionalKey(Schema.String)
})

export class AgentStatus extends Schema.Class<AgentStatus>("AgentStatus")({
  version: Schema.String,
  session: Schema.String.check(pattern(/^[0-9a-f]{16}$/u, "16 hex digits")),
  conn: Schema.NullOr(Count),
  uptime_secs: Count,
  transport: AgentTransport,
  /** What carries it more exactly; null without a registration. */
  carrier: Schema.NullOr(AgentCarrier).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  registered: Schema.Boolean,
  registered_since: Schema.NullOr(UnixSeconds),
  last_seen_secs_ago: Schema.NullOr(Count),
  reconnects: Count,
  last_error: Schema.NullOr(Schema.String),
  tasks_live: Count,
  update_state: Schema.String,
  oidc_credential: CredentialState,
  masque_dropped_datagrams: Schema.Struct({ outbound: Count, inbound: Count }),
  events_ring_write_errors: Count,
  /** Null until an edge has asked. */
  last_probe: Schema.NullOr(OriginProbe),
  /** Sessions of channels by what carried them; absent in a process that has had none. */
  channel_sessions: Schema.optionalKey(Schema.Array(ChannelSessions)),
  /** The same by their key exchange. */
  channel_key_exchanges: Schema.optionalKey(Schema.Array(KeyExchanges)),
  /** Sessions of mesh clients by their key exchange; absent in a process that has had none. */
  mesh_key_exchanges: Schema.optionalKey(Schema.Array(KeyExchanges)),
  /** Of a member of a channel; absent in other processes. */
  channel_state: Schema.optionalKey(MemberState),
  /** Of a member of a room; absent in other processes. */
  channel_pairs: Schema.optionalKey(Schema.Array(ChannelPair)),
  /** Absent where this process orders no certificate. `words` continue "the certificate". */
  certificate: Schema.optionalKey(CertificateReport),
  /** Of an agent with a file of services; absent in other processes. */
  services: Schema.optionalKey(Schema.Array(ServiceReport)),
  /** Settings that are legal but probably not meant, such as an origin whose certificate is not checked. */
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  healthy: Schema.Boolean
}) {}
