/**
 * Proof of host names that owners bring, looked up when the owner asks and before each certificate. With a proof the
 * name is routed to the tunnel; a former holder whose record is gone from DNS loses the name to an owner who has one.
 */
import { type Caller, quotaSubject } from "@catenet/domain/api/Access"
import {
  ChallengeNotBrokered,
  ChallengeNotDelegated,
  DnsProviderFailed
} from "@catenet/domain/certificates/AdmissionErrors"
import {
  DnsUnanswered,
  HostnameNotProved,
  type HostnameReserved,
  HostnameTaken,
  NoHostnameToVerify
} from "@catenet/domain/tunnels/HostnameErrors"
import { DnsRecord } from "@catenet/domain/tunnels/HostnameOwnership"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Hostname } from "@catenet/domain/values/Hostname"
import type { TunnelId } from "@catenet/domain/values/Ids"
import type { RateLimited } from "@catenet/domain/values/RequestErrors"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option } from "effect"
import { challengeName } from "../../dns/DnsProvider.ts"
import { Outbox } from "../../edges/Outbox.ts"
import { Limits } from "../../http/Limits.ts"
import { Audits } from "../../identity/Audits.ts"
import { over } from "../../runtime/Over.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { mapConstraint } from "../../store/Constraint.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { lead } from "./HostnameClaims.ts"
import { type Claim, HostnameProofStore } from "./HostnameProofStore.ts"
import { HostnameRules } from "./HostnameRules.ts"
import { Hosts } from "./Hosts.ts"
import { Resolver } from "./Resolver.ts"

/** Verifications that an account may ask for in a minute. */
const perMinute = 30

/** Seconds for which a proof that was seen is good for a certificate. */
const freshFor = 60

const dependencies = Effect.gen(function* () {
  const store = yield* HostnameProofStore
  const rules = yield* HostnameRules
  const resolver = yield* Resolver
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const audits = yield* Audits
  const limits = yield* Limits
  return { audits, hosts, limits, outbox, resolver, rules, store }
})
type State = Effect.Success<typeof dependencies>

/** Looks a claim's proof up, and keeps what was seen. */
const look = Effect.fnUntraced(function* (
  { resolver, rules, store }: State,
  { hostname, quotaSubject: account, tunnelId }: Claim
) {
  const outcome = yield* resolver.look(account, rules.recordsOf(tunnelId, hostname))
  const now = yield* unixSeconds
  if (outcome === "proved") yield* store.proved(tunnelId, now)
  if (outcome === "missing") yield* store.missed(tunnelId, now)
  return outcome
})

/** The holder that makes room: its proof is gone, and the edge has taken every order about it. */
const outdatedHolder = Effect.fnUntraced(function* (state: State, { hostname, tunnelId }: Claim) {
  const holder = Option.filter(yield* state.store.holder(hostname), (found) => found.tunnelId !== tunnelId)
  if (Option.isNone(holder) || holder.value.provisioned || state.rules.isGiven(hostname)) return Option.none()
  const makesRoom = holder.value.isSettled && (yield* look(state, holder.value)) === "missing"
  return makesRoom ? holder : Option.none()
})

/** Gives the name to the tunnel whose proof was just seen. */
const attach = Effect.fnUntraced(
  function* ({ hosts, outbox, store }: State, id: TunnelId, outdated: Option.Option<Claim>) {
    const found = yield* store.locked(id)
    if (Option.isNone(found)) return yield* new TunnelNotFound()
    const claim = found.value
    if (claim.isHeld) return { token: claim.routingToken, ids: [] }
    if (Option.isSome(outdated)) yield* store.detach(outdated.value)
    const { current, hostname, routingToken } = claim
    const ids = yield* lead({ claims: store, hosts, outbox }, { hostname: current, id, routingToken }, hostname)
    return { token: routingToken, ids }
  },
  (self, state) => state.store.transaction(self)
)

const verify = Effect.fn("HostnameProofs.verify")(function* (state: State, account: Caller["Service"], id: TunnelId) {
  const found = yield* state.store.ofTunnel(id)
  if (Option.isNone(found) || found.value.provisioned || state.rules.isGiven(found.value.hostname)) {
    return yield* new NoHostnameToVerify()
  }
  const claim = found.value
  const { hostname } = claim
  yield* state.limits.take(`verify-hostname ${quotaSubject(account)}`, perMinute)
  yield* state.hosts.admit(claim.routingToken, hostname, "account")
  const outcome = yield* look(state, claim)
  if (outcome === "unanswered") return yield* new DnsUnanswered()
  if (outcome === "missing") {
    const records = state.rules.recordsOf(id, hostname).map((record) => new DnsRecord(record))
    return yield* new HostnameNotProved({ hostname, records })
  }
  const outdated = claim.isHeld ? Option.none() : yield* outdatedHolder(state, claim)
  const { ids, token } = yield* Effect.tap(attach(state, id, outdated), () =>
    state.audits.append(audit("hostname_proved", account.subject, id, hostname))
  ).pipe(mapConstraint("tunnels_hostname_unique", () => new HostnameTaken({ hostname })))
  yield* state.outbox.deliver({ queue: token, ids }).pipe(Effect.timeoutOption("2 seconds"), Effect.ignoreCause)
}, sqlOrDie)

const mayCertify = Effect.fn("HostnameProofs.mayCertify")(function* (
  state: State,
  token: RoutingToken,
  hostname: Hostname
) {
  if (yield* Effect.isFailure(state.rules.admit(hostname, "operator"))) return false
  if (state.rules.isGiven(hostname)) return true
  const claim = yield* state.store.ofToken({ token, hostname })
  if (Option.isNone(claim) || claim.value.provisioned) return true
  const { checkedAt, provedAt } = claim.value
  if (provedAt !== null && checkedAt !== null && (yield* unixSeconds) - checkedAt < freshFor) return true
  const outcome = yield* look(state, claim.value)
  if (outcome !== "proved")
    yield* Effect.logWarning("A host name has no proof for a certificate.", { hostname, outcome })
  return outcome === "proved"
}, sqlOrDie)

const challengeAt = Effect.fn("HostnameProofs.challengeAt")(function* (
  { resolver, rules, store }: State,
  token: RoutingToken,
  hostname: Hostname,
  isChecked: boolean
) {
  const claim = rules.isGiven(hostname) ? Option.none() : yield* store.ofToken({ token, hostname })
  if (Option.isNone(claim) || claim.value.provisioned) return challengeName(hostname)
  const record = rules.certificateRecordOf(claim.value.tunnelId, hostname)
  if (record === undefined) return yield* new ChallengeNotBrokered()
  const outcome = isChecked ? yield* resolver.look(claim.value.quotaSubject, [record]) : "proved"
  if (outcome === "unanswered") return yield* new DnsProviderFailed()
  if (outcome === "missing") return yield* new ChallengeNotDelegated({ record: new DnsRecord(record) })
  return record.value
}, sqlOrDie)

/** Why the proof of a tunnel's own name was not seen, or does not give it the name. */
export type ProofRefusal =
  | DnsUnanswered
  | HostnameNotProved
  | HostnameReserved
  | HostnameTaken
  | NoHostnameToVerify
  | RateLimited
  | TunnelNotFound

export class HostnameProofs extends Context.Service<
  HostnameProofs,
  {
    /** Looks for the proof of the tunnel's own name; with it the name leads to the tunnel. */
    readonly verify: (account: Caller["Service"], id: TunnelId) => Effect.Effect<void, ProofRefusal>
    /**
     * Whether the owner of a routed name may have a certificate for it: the platform gave the name, an operator did, or
     * its proof is in DNS now. DNS that does not answer is no proof.
     */
    readonly mayCertify: (token: RoutingToken, hostname: Hostname) => Effect.Effect<boolean>
    /**
     * Where the platform answers the challenges of a name in DNS: it gave the name, or an operator did, or the owner of a wildcard
     * has delegated them to its zone, which is looked up where it `isChecked`.
     */
    readonly challengeAt: (
      token: RoutingToken,
      hostname: Hostname,
      isChecked: boolean
    ) => Effect.Effect<string, ChallengeNotBrokered | ChallengeNotDelegated | DnsProviderFailed>
  }
>()("server/tunnels/hostnames/HostnameProofs") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { verify, mayCertify, challengeAt })
  }))

  static readonly layer = Layer.effect(HostnameProofs, HostnameProofs.make).pipe(
    Layer.provide([
      Audits.layer,
      HostnameRules.layer,
      Hosts.layer,
      Limits.layer,
      Outbox.layer,
      Resolver.layer,
      HostnameProofStore.layer
    ])
  )
}
