/**
 * Tunnels: created for an account, with a routing token that never changes and, mostly, a hostname. An id that the caller
 * does not own is an id that nobody has.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { AgentId } from "@catenet/domain/enrollment/Agent"
import { HostnameTaken } from "@catenet/domain/enrollment/EnrollmentErrors"
import { ClaimNotLapsed, TunnelLimitReached, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { Hostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { audit } from "@catenet/domain/values/AuditEffect"
import { derive } from "@catenet/domain/tunnels/HostnameDerivation"
import type { Subject } from "@catenet/domain/values/Subject"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Installation, Tunnel, type TunnelChange, type TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { AddressRecords } from "./hostnames/AddressRecords.ts"
import { Audits } from "../identity/Audits.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Enrolments } from "../enrollment/Enrollments.ts"
import * as ClaimStore from "./hostnames/HostnameClaimStore.ts"
import { HostnameProofs } from "./hostnames/HostnameProofs.ts"
import { HostnameRules } from "./hostnames/HostnameRules.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Idempotency, type Once } from "../http/Idempotency.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { Outbox } from "../edges/Outbox.ts"
import { Hosts } from "./hostnames/Hosts.ts"
import { digestOf, freshHex32, freshHex64 } from "../runtime/Secrets.ts"
import { LoginOrders } from "./LoginOrders.ts"
import { Settings } from "../settings/Settings.ts"
import { refusedBy } from "../store/Constraint.ts"
import { asDefects } from "../store/Defects.ts"
import { Made, MadeAndShown } from "./TunnelCreation.ts"
import { tunnelOf } from "./ShownTunnel.ts"
import * as Store from "./TunnelStore.ts"

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(TunnelId)
const tokenFrom = Schema.decodeSync(RoutingToken)
const readHostname = Schema.decodeOption(Hostname)
const After = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const addresses = yield* AddressRecords
  const audits = yield* Audits
  const logins = yield* LoginOrders
  const enrolments = yield* Enrolments
  const keys = yield* AgentKeys
  const { kept, once } = yield* Idempotency
  const { meshEdgePort, portalBaseUrl, tunnelsPerAccount } = yield* Settings
  const claims = yield* ClaimStore.make
  const proofs = yield* HostnameProofs
  const rules = yield* HostnameRules
  const toTunnel = tunnelOf(rules)
  const random = yield* SecureRandom.SecureRandom
  const withEntropy = Effect.provideService(SecureRandom.SecureRandom, random)

  const fresh = Effect.fnUntraced(function* (subject: Subject, name: string, hostname: Hostname | null) {
    const id = idFrom(yield* withEntropy(freshHex32))
    const routingToken = tokenFrom(yield* withEntropy(freshHex64))
    return { subject, name, id, hostname, routingToken, createdAt: yield* unixSeconds }
  })

  /**
   * Creates a tunnel. A hostname that the platform or an operator chooses gets address records; one that an account
   * chooses in the zone gets none, because other services may have records there. Any other name of an account is a
   * claim, and the tunnel has no hostname until it is proved. Without `usualMost` the account may have any number.
   */
  const insert = Effect.fnUntraced(function* (
    owner: Subject,
    name: string,
    asked: Hostname | null,
    by: "platform" | "operator" | "account",
    usualMost?: number
  ) {
    const isClaim = by === "account" && asked !== null && !rules.isGiven(asked)
    const hostname = isClaim ? null : asked
    const row = yield* fresh(owner, name, hostname)
    const { id, routingToken: token } = row
    const inserted = usualMost === undefined ? store.insert(row) : store.insertWithin(row, usualMost)
    if (!(yield* audits.appendTo(inserted, audit("tunnel_enrolled", owner, id)))) {
      return yield* new TunnelLimitReached({ limit: (yield* store.counted(owner)).most ?? tunnelsPerAccount })
    }
    if (isClaim) {
      yield* hosts.admit(token, asked, "account")
      const target = rules.targetOf(id)
      yield* claims.insert({ tunnelId: id, hostname: asked, target })
      if (target !== null) yield* addresses.want(target)
    }
    if (hostname === null) return { id, token, hostname, calls: [] }
    if (Option.isSome(yield* hosts.find(hostname, { lock: true }))) return yield* new HostnameTaken({ hostname })
    if (by !== "account") yield* addresses.want(hostname)
    const { ids } = yield* hosts.record(token, hostname, by === "operator" ? "operator" : "account")
    return { id, token, hostname, calls: ids }
  })

  /** The usual creation of a tunnel without a hostname, in one trip; nothing where it is not the usual one. */
  const enrol = Effect.fnUntraced(function* (owner: Subject, name: TunnelName, repeat: Once | undefined) {
    const row = yield* fresh(owner, name, null)
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
      agent_proof: "optional"
    })
    const answer = { id, token, hostname: null, calls: [], tunnel }
    const entry = audit("tunnel_enrolled", owner, id)
    const keeps = repeat === undefined ? undefined : yield* kept(repeat, MadeAndShown, answer)
    const [written] = yield* store.enrol(row, tunnelsPerAccount, entry, keeps)
    yield* audits.complain(entry, written)
    return written?.isNew === true ? tunnel : undefined
  })

  /** The edge is told at once when it can be reached, and later otherwise: the tunnel exists either way. */
  const tell = ({ calls, token }: typeof Made.Type) =>
    outbox.deliver({ queue: token, ids: calls }).pipe(Effect.timeoutOption("2 seconds"), Effect.ignore)

  const settled = <A, E, R>(command: Effect.Effect<A, E, R>, hostname: Hostname | null) =>
    hostname === null
      ? command
      : command.pipe(refusedBy("tunnels_hostname_unique", () => new HostnameTaken({ hostname })))

  const present = <A>(found: Option.Option<A>) => Effect.mapError(Effect.fromOption(found), () => new TunnelNotFound())
  const owned = (id: string, { subject }: Account) => Effect.flatMap(store.owned({ id, subject }), present)
  const shown = (id: string, { subject }: Account) =>
    Effect.map(Effect.flatMap(store.shown({ id, subject }), present), toTunnel)

  return {
    owned: (id: string, account: Account) => owned(id, account).pipe(asDefects),

    /** An operator creates a tunnel for an account; the account's limit does not count. */
    provision: Effect.fn("Tunnels.provision")(function* (
      request: { readonly subject: Subject; readonly name: string; readonly hostname: Hostname },
      key: string | undefined
    ) {
      const { hostname, name, subject } = request
      const repeat = key === undefined ? undefined : { caller: "operator", operation: "provision-tunnel", key, request }
      const command = Effect.catchTag(insert(subject, name, hostname, "operator"), "TunnelLimitReached", Effect.die)
      const made = yield* settled(once(repeat, Made, command), hostname)
      yield* tell(made)
      return { routing_token: made.token, hostname }
    }, asDefects),

    /** An account creates a tunnel; without a hostname of its choice it gets one in the zone, if there is a zone. */
    create: Effect.fn("Tunnels.create")(function* (
      account: Account,
      request: { readonly name: TunnelName; readonly hostname?: Hostname },
      key: string | undefined
    ) {
      const { subject } = account
      const derived = rules.zone === undefined ? "" : derive(request.name, digestOf(subject), rules.zone)
      const hostname = request.hostname ?? Option.getOrNull(readHostname(derived))
      const repeat = key === undefined ? undefined : { caller: subject, operation: "create-tunnel", key, request }
      const enrolled = hostname === null ? yield* enrol(subject, request.name, repeat) : undefined
      if (enrolled !== undefined) return enrolled
      const command = Effect.gen(function* () {
        const by = request.hostname === undefined ? "platform" : "account"
        const made = yield* insert(subject, request.name, hostname, by, tunnelsPerAccount)
        return { ...made, tunnel: yield* Effect.catchTag(shown(made.id, account), "TunnelNotFound", Effect.die) }
      })
      const { tunnel, ...made } = yield* settled(once(repeat, MadeAndShown, command), hostname)
      yield* tell(made)
      return tunnel
    }, asDefects),

    /** The tunnels of everybody, by their ids. */
    all: Effect.fn("Tunnels.all")(
      (page: Page) => paged(page, Schema.String, store.all, (tunnel) => tunnel.id),
      Effect.orDie
    ),

    /** Own and granted tunnels, oldest first. */
    list: Effect.fn("Tunnels.list")(
      ({ subject }: Account, page: Page) =>
        paged(
          page,
          After,
          (slice) => Effect.map(store.list({ subject, ...slice }), (rows) => rows.map(toTunnel)),
          (tunnel) => ({ createdAt: tunnel.created_at, id: tunnel.id })
        ),
      Effect.orDie
    ),

    get: Effect.fn("Tunnels.get")((account: Account, id: string) => shown(id, account), asDefects),

    change: Effect.fn("Tunnels.change")(
      function* (account: Account, id: string, change: TunnelChange) {
        yield* owned(id, account)
        const { allow_any_login, allow_unproved_agents, name, require_login } = change
        const columns = {
          ...(name === undefined ? {} : { name }),
          ...(require_login === undefined ? {} : { requireLogin: require_login }),
          ...(allow_any_login === undefined ? {} : { allowAnyLogin: allow_any_login }),
          ...(allow_unproved_agents === undefined ? {} : { allowUnprovedAgents: allow_unproved_agents })
        }
        if (Object.keys(columns).length > 0) {
          yield* store.change(id, columns)
          if (allow_any_login !== undefined || require_login !== undefined) yield* logins.tunnelChanged(id)
          yield* audits.append(audit("tunnel_changed", account.subject, id, JSON.stringify(change)))
          if (allow_unproved_agents !== undefined) yield* keys.announce([id])
        }
        return yield* shown(id, account)
      },
      store.transaction,
      asDefects
    ),

    /** Removes a tunnel. Its hostname is free again; its token is not, and every edge drops it. */
    remove: Effect.fn("Tunnels.remove")(
      function* (account: Account, id: string) {
        const tunnel = yield* present(yield* store.hold({ id, subject: account.subject }))
        yield* store.remove(tunnel, yield* unixSeconds)
        yield* outbox.append(tunnel.routingToken, { _tag: "Revoke" })
        yield* audits.append(audit("tunnel_deleted", account.subject, id))
      },
      store.transaction,
      asDefects
    ),

    /** What an agent needs to serve the tunnel, with a fresh join token for the owner's tenant. */
    install: Effect.fn("Tunnels.install")(function* (account: Account, id: string, key: string | undefined) {
      const found = yield* store.visible({ id, subject: account.subject })
      if (Option.isNone(found)) return yield* new TunnelNotFound()
      const tunnel = found.value
      const grantee = account.subject === tunnel.subject ? null : account.subject
      const command = Effect.map(
        Effect.tap(enrolments.issueFor({ tenant: tunnel.subject, tunnel: tunnel.id, grantee }), () =>
          audits.append(audit("join_token_issued", account.subject, tunnel.id))
        ),
        (join_token) =>
          new Installation({
            join_token,
            routing_token: tunnel.routingToken,
            agent_id: AgentId.make(tunnel.id),
            control_plane_url: portalBaseUrl.origin,
            edge: `${portalBaseUrl.hostname}:${meshEdgePort}`,
            hostname: tunnel.hostname
          })
      )
      const repeat =
        key === undefined
          ? undefined
          : { caller: account.subject, operation: `install-tunnel ${tunnel.id}`, key, request: null }
      return yield* once(repeat, Installation, command).pipe(
        refusedBy("join_tokens_of_a_grant", () => new TunnelNotFound()),
        Effect.catchTag("IdempotencyKeyReused", Effect.die)
      )
    }, asDefects),

    /** Looks for the proof of the tunnel's own name, and answers with the tunnel. */
    verifyHostname: Effect.fn("Tunnels.verifyHostname")(function* (account: Account, id: TunnelId) {
      yield* owned(id, account)
      yield* proofs.verify(account, id)
      return yield* shown(id, account)
    }, asDefects),

    /** Back into the queue for a certificate, at its end, after an offer was not taken in time. */
    reclaim: Effect.fn("Tunnels.reclaim")(
      function* (account: Account, id: string) {
        const { hostname } = yield* owned(id, account)
        const host = hostname === null ? Option.none() : yield* hosts.find(hostname, { lock: true })
        if (Option.isNone(host)) return yield* new ClaimNotLapsed()
        yield* hosts.step(host.value, { _tag: "Reclaim" }).pipe(
          Effect.catchTags({
            NotLapsed: () => new ClaimNotLapsed(),
            NotQueued: Effect.die,
            NotAuthorized: Effect.die
          })
        )
      },
      store.transaction,
      asDefects
    )
  }
})

export class Tunnels extends Context.Service<Tunnels, Effect.Success<typeof make>>()("server/Tunnels") {
  static readonly layer = Layer.effect(Tunnels, make)
}
