/** Creates tunnels. The row of an idempotency key keeps the calls that were left for the edge, and the response. */
import type { Caller } from "@catenet/domain/api/Access"
import type { NewTunnel } from "@catenet/domain/api/TunnelsApi"
import type { PortProtocol } from "@catenet/domain/edges/PublicPort"
import { allOff } from "@catenet/domain/edges/TunnelOptions"
import { type HostnameReserved, HostnameTaken } from "@catenet/domain/tunnels/HostnameErrors"
import { type NoPortLeft, type PortLimitReached, PortRefused, type PortTaken } from "@catenet/domain/tunnels/PortErrors"
import { Tunnel, type TunnelKind, type TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { TunnelLimitReached } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Hostname, TunnelHostname } from "@catenet/domain/values/Hostname"
import { type Subject, TunnelId } from "@catenet/domain/values/Ids"
import { type Port, UnixSeconds } from "@catenet/domain/values/Numbers"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Outbox } from "../edges/Outbox.ts"
import { Idempotency, type Kept, type Once } from "../http/Idempotency.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { freshHex32, freshHex64 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { mapConstraint } from "../store/Constraint.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { AddressRecords } from "./hostnames/AddressRecords.ts"
import { assigned, claim } from "./hostnames/HostnameClaims.ts"
import { HostnameProofStore } from "./hostnames/HostnameProofStore.ts"
import { HostnameRules } from "./hostnames/HostnameRules.ts"
import { Hosts } from "./hostnames/Hosts.ts"
import { PublicPorts } from "./PublicPorts.ts"
import { TunnelStore } from "./TunnelStore.ts"
import { tunnelOf } from "./TunnelStore.ts"

type Account = Caller["Service"]

/** Why an account gets no tunnel. */
export type CreationRefusal =
  | HostnameReserved
  | HostnameTaken
  | IdempotencyKeyReused
  | LimitReached
  | NoPortLeft
  | PortLimitReached
  | PortRefused
  | PortTaken
  | TunnelLimitReached

const idFrom = Schema.decodeSync(TunnelId)
const tokenFrom = Schema.decodeSync(RoutingToken)

const made = {
  id: TunnelId,
  token: RoutingToken,
  hostname: Schema.NullOr(TunnelHostname),
  calls: Schema.Array(Schema.Int)
}
const Made = Schema.Struct(made)
const MadeAndShown = Schema.Struct({ ...made, tunnel: Tunnel })

const dependencies = Effect.gen(function* () {
  const store = yield* TunnelStore
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const addresses = yield* AddressRecords
  const audits = yield* Audits
  const { kept, once } = yield* Idempotency
  const { hostsPerAccount, tunnelsPerAccount } = yield* Settings
  const claims = yield* HostnameProofStore
  const rules = yield* HostnameRules
  const ports = yield* PublicPorts
  const random = yield* SecureRandom.SecureRandom
  const withEntropy = Effect.provideService(SecureRandom.SecureRandom, random)
  return {
    addresses,
    audits,
    claims,
    hosts,
    hostsPerAccount,
    kept,
    once,
    outbox,
    ports,
    rules,
    store,
    tunnelsPerAccount,
    withEntropy
  }
})
type State = Effect.Success<typeof dependencies>

const fresh = Effect.fnUntraced(function* (
  { withEntropy }: State,
  subject: Subject,
  name: string,
  hostname: Hostname | null
) {
  const id = idFrom(yield* withEntropy(freshHex32))
  const routingToken = tokenFrom(yield* withEntropy(freshHex64))
  return { subject, name, id, hostname, routingToken, createdAt: yield* unixSeconds }
})

/**
 * The row of a tunnel with its audit entry: the one statement of every creation, which may claim the key of its request
 * first. Whether it was made; without `usualMost` the account may have any number.
 */
const enrol = (state: State, row: Effect.Success<ReturnType<typeof fresh>>, usualMost?: number, kept?: Kept) => {
  const entry = audit("tunnel_enrolled", row.subject, row.id)
  return state.store.enrol(row, usualMost, entry, kept).pipe(
    Effect.tap(([written]) => state.audits.complain(entry, written)),
    Effect.map(([written]) => written?.isNew === true),
    mapConstraint("tunnels_per_account", (most) => new TunnelLimitReached({ limit: Number(most) }))
  )
}

/**
 * Creates a tunnel. A hostname that the platform or an operator chooses gets address records; one that an account
 * chooses in the zone gets none, because other services may have records there. Any other name of an account is a
 * claim, and the tunnel has no hostname until it is proved.
 */
const insert = Effect.fnUntraced(function* (
  state: State,
  owner: Subject,
  name: string,
  asked: Hostname | null,
  by: "platform" | "operator" | "account",
  usualMost?: number,
  tls = false
) {
  const isClaim = by === "account" && asked !== null && !state.rules.isGiven(asked)
  const hostname = isClaim ? null : asked
  const row = yield* fresh(state, owner, name, hostname)
  const { id, routingToken: token } = row
  yield* enrol(state, row, usualMost)
  if (isClaim) {
    yield* claim(state, { id, routingToken: token, subject: owner }, asked)
  }
  if (hostname === null) return { id, token, hostname, calls: [] }
  if (tls) yield* state.store.endTls(id)
  if (by !== "account") yield* state.addresses.want(hostname)
  const { ids } = yield* state.hosts.record(token, hostname, by === "operator" ? "operator" : "account")
  return { id, token, hostname, calls: ids }
})

/** Without a hostname the answer is known before, so that the row and the key are one trip; nothing for a used key. */
const insertAnswered = Effect.fnUntraced(function* (state: State, owner: Subject, name: TunnelName, repeat: Once) {
  const row = yield* fresh(state, owner, name, null)
  const { createdAt, id, routingToken: token } = row
  const tunnel = new Tunnel({
    id,
    name,
    hostname: null,
    hostname_proof: null,
    status: "rot",
    claim_deadline: null,
    require_login: false,
    allow_any_login: false,
    bridge_mode: "off",
    owned: true,
    created_at: UnixSeconds.make(createdAt),
    kind: "http",
    port: null,
    port_host: null,
    agent_proof: "optional",
    ...allOff
  })
  const answer = { id, token, hostname: null, calls: [], tunnel }
  const keeps = yield* state.kept(repeat, MadeAndShown, answer)
  return (yield* enrol(state, row, state.tunnelsPerAccount, keeps)) ? tunnel : undefined
})

/** A tunnel that is reached at a port instead of a host name. */
const insertWithPort = Effect.fnUntraced(function* (
  state: State,
  subject: Subject,
  name: TunnelName,
  protocol: PortProtocol,
  wish: Port | undefined
) {
  const row = yield* fresh(state, subject, name, null)
  const { id, routingToken: token } = row
  yield* enrol(state, row, state.tunnelsPerAccount)
  const port = yield* state.ports.allot(id, subject, protocol, wish)
  if (state.rules.zone !== undefined) yield* state.addresses.want(Hostname.make(state.rules.portHost(protocol)))
  const { ids } = yield* state.outbox.appendOwn(token, { _tag: "SetPort", port })
  return { id, token, hostname: null, calls: ids }
})

/** Orders the edge at once when it can be reached, and later otherwise: the tunnel exists either way. */
const tell = ({ outbox }: State, { calls, token }: typeof Made.Type) =>
  outbox.deliver({ queue: token, ids: calls }).pipe(Effect.timeoutOption("2 seconds"), Effect.ignoreCause)

const settled = <A, E, R>(command: Effect.Effect<A, E, R>, hostname: Hostname | null) =>
  hostname === null
    ? command
    : command.pipe(mapConstraint("tunnels_hostname_unique", () => new HostnameTaken({ hostname })))

const shown = ({ rules, store }: State, id: TunnelId, subject: Subject) =>
  Effect.map(Effect.flatMap(store.shown({ id, subject }), Effect.fromOption), tunnelOf(rules))

const provision = Effect.fn("Tunnels.provision")(function* (
  state: State,
  request: { readonly subject: Subject; readonly name: string; readonly hostname: Hostname },
  key: string | undefined
) {
  const { hostname, name, subject } = request
  const repeat = { caller: "operator", operation: "provision-tunnel", key, request }
  const command = Effect.catchTag(
    insert(state, subject, name, hostname, "operator"),
    ["LimitReached", "TunnelLimitReached"],
    Effect.die
  )
  const made = yield* settled(state.once(repeat, Made, command), hostname)
  yield* tell(state, made)
  return { routing_token: made.token, hostname }
}, sqlOrDie)

/** The edge ends TLS with the certificate of the zone, so the host name has to be below it. */
const checkTls = Effect.fnUntraced(function* (
  { rules }: State,
  kind: TunnelKind,
  { hostname, port }: Pick<NewTunnel, "hostname" | "port">
) {
  if (kind !== "tcp") return yield* new PortRefused({ field: "tls", reason: "is for tunnels of kind tcp" })
  if (port !== undefined)
    return yield* new PortRefused({
      field: "port",
      reason: "does not go with tls: such a tunnel is reached at a host name"
    })
  if (rules.zone === undefined)
    return yield* new PortRefused({
      field: "tls",
      reason: "needs a zone of host names; the operator sets CT_CP_HOSTNAME_ZONE"
    })
  if (hostname !== undefined && !rules.isGiven(hostname))
    return yield* new PortRefused({
      field: "hostname",
      reason: `must be a name below ${rules.zone}, because the edge ends TLS with its certificate`
    })
})

const create = Effect.fn("Tunnels.create")(function* (
  state: State,
  account: Account,
  request: NewTunnel,
  key: string | undefined
) {
  const { subject } = account
  const { kind = "http", port, tls = false } = request
  if (tls) yield* checkTls(state, kind, request)
  if (kind === "http" && port !== undefined)
    return yield* new PortRefused({ field: "port", reason: "is for tunnels of kind tcp or udp" })
  if (kind !== "http" && !tls && request.hostname !== undefined)
    return yield* new PortRefused({
      field: "hostname",
      reason: `does not go with kind ${kind}: such a tunnel is reached at a port`
    })
  const isNamed = kind === "http" || tls
  const hostname = isNamed ? (request.hostname ?? assigned(state, subject, request.name)) : null
  const repeat = { caller: subject, operation: "create-tunnel", key, request }
  const isPlain = kind === "http" && hostname === null
  const enrolled = isPlain ? yield* insertAnswered(state, subject, request.name, repeat) : undefined
  if (enrolled !== undefined) return enrolled
  const command = Effect.gen(function* () {
    const by = request.hostname === undefined ? "platform" : "account"
    const made =
      kind === "http" || tls
        ? yield* insert(state, subject, request.name, hostname, by, state.tunnelsPerAccount, tls)
        : yield* insertWithPort(state, subject, request.name, kind, port)
    return { ...made, tunnel: yield* shown(state, made.id, subject) }
  })
  const { tunnel, ...made } = yield* settled(state.once(repeat, MadeAndShown, command), hostname)
  yield* tell(state, made)
  return tunnel
}, sqlOrDie)

export const make = Effect.map(dependencies, (state) => ({
  ...over(state, { provision, create })
}))
