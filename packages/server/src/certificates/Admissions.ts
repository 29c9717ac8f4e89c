/**
 * Certificate admission as agents ask for it. The routing token in the path must be the recorded owner of the hostname;
 * a wrong token, a malformed one and one of another hostname are the same refusal.
 */
import { Admission, type AdmissionState, confirmRevert, issued, view } from "@catenet/domain/certificates/Admission"
import { HostnameGuarded, HostnameUnknown, NotHostnameOwner } from "@catenet/domain/certificates/AdmissionErrors"
import type { IssuanceFailure } from "@catenet/domain/certificates/CertificateStanding"
import { type Hostname, TunnelHostname } from "@catenet/domain/values/Hostname"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { clause } from "@catenet/domain/values/Sentence"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Equal, Layer, Option, Redacted, Result, Schema } from "effect"
import type { X509Certificate } from "node:crypto"
import { EdgeFacts } from "../edges/EdgeFacts.ts"
import { Outbox } from "../edges/Outbox.ts"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { HostnameProofs } from "../tunnels/hostnames/HostnameProofs.ts"
import { Hosts } from "../tunnels/hostnames/Hosts.ts"
import { HostStore } from "../tunnels/hostnames/HostStore.ts"
import { CaSelection } from "./CaSelection.ts"
import { CertificateAuthorities } from "./CertificateAuthorities.ts"
import * as IssuedCertificate from "./IssuedCertificate.ts"

const readToken = Schema.decodeOption(RoutingToken)
const readHostname = Schema.decodeOption(TunnelHostname)

const dependencies = Effect.gen(function* () {
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const { describe } = yield* CertificateAuthorities
  const { giveBack, settle } = yield* CaSelection
  const proofs = yield* HostnameProofs
  const facts = yield* EdgeFacts
  const { forgetFailures, forgetProgress, guards, see, tunnelOf, unseenOf } = yield* HostStore
  return {
    describe,
    facts,
    forgetFailures,
    forgetProgress,
    giveBack,
    guards,
    hosts,
    outbox,
    proofs,
    see,
    settle,
    tunnelOf,
    unseenOf
  }
})
type State = Effect.Success<typeof dependencies>

/** Token and hostname of the path, where both could be ones of ours. */
const read = (path: { readonly routing_token: Redacted.Redacted; readonly hostname: string }) =>
  Effect.fromOption(
    Option.all({ token: readToken(Redacted.value(path.routing_token)), hostname: readHostname(path.hostname) })
  ).pipe(Effect.mapError(() => new NotHostnameOwner()))

const owned = Effect.fnUntraced(function* ({ hosts }: State, token: RoutingToken, hostname: Hostname) {
  const host = yield* hosts.find(hostname, { lock: true })
  if (Option.isNone(host) || !Equal.equals(host.value.routingToken, token)) return yield* new NotHostnameOwner()
  return host.value
})

const seen = Effect.fnUntraced(function* (
  { describe, see, unseenOf }: State,
  hostname: Hostname,
  chain: ReadonlyArray<X509Certificate>
) {
  const unseen = yield* unseenOf(hostname)
  if (Option.isNone(unseen)) return
  const { ca } = unseen.value
  const expected = { hostname, ca, directoryUrl: describe(ca)?.directory_url, now: yield* unixSeconds }
  const found = IssuedCertificate.check(chain, expected)
  if (Result.isSuccess(found)) yield* see(hostname, found.success)
  else yield* Effect.logDebug(`The certificate of ${hostname} does not count: ${clause(found.failure)}.`)
})

/** Whether every agent that is connected, at whatever edge, holds back the visitors whose TLS it ends. */
const isEnforced = Effect.fnUntraced(function* ({ facts, guards }: State, token: RoutingToken) {
  const enforced = yield* guards(token)
  if (enforced.length === 0) return false
  const { known } = yield* facts.status(token)
  const isWhole = (enforces: ReadonlyArray<string>) => enforced.every((name) => enforces.includes(name))
  return Option.exists(known, ({ connected, enforces = [] }) => connected && isWhole(enforces))
})

const complete = Effect.fnUntraced(
  function* (
    state: State,
    token: RoutingToken,
    hostname: Hostname,
    { chain, isEnforced }: { readonly chain?: ReadonlyArray<X509Certificate> | undefined; readonly isEnforced: boolean }
  ) {
    const isHeldBack = (yield* state.guards(token)).length > 0 && !isEnforced
    const host = yield* owned(state, token, hostname)
    if (isHeldBack && host.admission._tag === "Gelb") return yield* new HostnameGuarded()
    yield* state.forgetFailures(hostname)
    yield* state.forgetProgress(hostname)
    const orders = yield* state.hosts.step(host, issued)
    if (chain !== undefined) yield* seen(state, hostname, chain)
    return yield* state.outbox.appendOwn(token, ...orders)
  },
  (self, state) => state.hosts.transaction(self)
)

const confirm = Effect.fnUntraced(
  function* (state: State, token: RoutingToken, hostname: Hostname) {
    yield* state.hosts.step(yield* owned(state, token, hostname), (state) => Result.succeed(confirmRevert(state)))
  },
  (self, state) => state.hosts.transaction(self)
)

/**
 * Where the hostname stands, for the tunnel that owns it. `isGuarded`: the edge holds some of its visitors back, which it
 * could not do any more.
 */
const standingOf = Effect.fnUntraced(function* ({ hosts, tunnelOf }: State, token: RoutingToken, hostname: Hostname) {
  const host = yield* hosts.find(hostname, { lock: false })
  const tunnel = yield* tunnelOf(hostname)
  if (Option.isNone(host) && Option.isNone(tunnel)) return yield* new HostnameUnknown()
  const isOwner = ({ routingToken }: { readonly routingToken: RoutingToken }) => Equal.equals(routingToken, token)
  if (!Option.toArray(host).every(isOwner) || !Option.toArray(tunnel).every(isOwner)) {
    return yield* new NotHostnameOwner()
  }
  const admission = Option.match(host, {
    onNone: (): AdmissionState => ({ _tag: "Rot" }),
    onSome: ({ admission }) => admission
  })
  const isGuarded = Option.exists(
    tunnel,
    ({ enforced, options, requireLogin, ruled }) =>
      ((options.http_only || requireLogin) && !enforced) || !ruled || options.tls
  )
  return { admission, isGuarded }
})

/** A name that its owner brought has its proof looked up again before it may be certified. */
const standing = Effect.fnUntraced(function* (state: State, token: RoutingToken, hostname: Hostname) {
  const { admission, isGuarded } = yield* standingOf(state, token, hostname)
  const seen = view(admission, yield* unixSeconds)
  const isOpen = seen.mayIssueNow && (seen.status === "gruen" || !isGuarded)
  return { ...seen, admission, isCertifiable: isOpen && (yield* state.proofs.mayCertify(token, hostname)) }
})

const answer = Effect.fnUntraced(function* (state: State, token: RoutingToken, hostname: Hostname) {
  const { admission, deadline, isCertifiable, status } = yield* standing(state, token, hostname)
  const ca = isCertifiable ? yield* state.settle(hostname, admission) : null
  return new Admission({
    status,
    // Without an authority there is nothing that the agent could do.
    may_issue_now: ca !== null,
    assigned_ca: ca === null ? null : state.describe(ca),
    claim_deadline: deadline === null ? null : UnixSeconds.make(deadline)
  })
})

const mayIssue = Effect.fn("Admissions.mayIssue")(function* (state: State, token: RoutingToken, hostname: Hostname) {
  return (yield* standing(state, token, hostname)).isCertifiable
}, sqlOrDie)

const owns = Effect.fn("Admissions.owns")(
  function* (state: State, token: RoutingToken, hostname: Hostname) {
    yield* standingOf(state, token, hostname)
  },
  Effect.catchTag("HostnameUnknown", () => new NotHostnameOwner()),
  sqlOrDie
)

const ask = Effect.fn("Admissions.ask")(function* (state: State, path: Parameters<typeof read>[0]) {
  const { hostname, token } = yield* read(path)
  return yield* answer(state, token, hostname)
}, sqlOrDie)

const fail = Effect.fn("Admissions.fail")(function* (
  state: State,
  path: Parameters<typeof read>[0],
  failure: IssuanceFailure
) {
  const { hostname, token } = yield* read(path)
  yield* standingOf(state, token, hostname)
  yield* state.giveBack(hostname, failure)
  return yield* answer(state, token, hostname)
}, sqlOrDie)

export class Admissions extends Context.Service<
  Admissions,
  {
    /** Whether the owner of a hostname may have a certificate issued now. */
    readonly mayIssue: (
      token: RoutingToken,
      hostname: Hostname
    ) => Effect.Effect<boolean, HostnameUnknown | NotHostnameOwner>
    /** Fails unless the token owns the hostname; the answer for an unknown hostname is the same. */
    readonly owns: (token: RoutingToken, hostname: Hostname) => Effect.Effect<void, NotHostnameOwner>
    /** Token and hostname of a path, where the token owns the hostname. */
    readonly owned: (path: {
      readonly routing_token: Redacted.Redacted
      readonly hostname: string
    }) => Effect.Effect<{ readonly hostname: Hostname }, HostnameUnknown | NotHostnameOwner>
    /** The answer to the agent of this hostname. */
    readonly ask: (path: {
      readonly routing_token: Redacted.Redacted
      readonly hostname: string
    }) => Effect.Effect<Admission, HostnameUnknown | NotHostnameOwner>
    /**
     * The agent has its certificate: the edge shall pass its connections through. Repeating it is a renewal. A name whose
     * visitors the edge holds back stays where the edge can, unless every agent of the tunnel does it. The chain that comes with it decides nothing here: it shows that
     * the issuance counts.
     */
    readonly complete: (
      path: { readonly routing_token: Redacted.Redacted; readonly hostname: string },
      chain?: ReadonlyArray<X509Certificate>
    ) => Effect.Effect<void, HostnameGuarded | NotHostnameOwner>
    /** This chain is served at the host name: its issuance counts, where it is a certificate that was issued just now. */
    readonly see: (hostname: Hostname, chain: ReadonlyArray<X509Certificate>) => Effect.Effect<void>
    /** An authority gave the agent no certificate; the answer is where the hostname stands then. */
    readonly fail: (
      path: { readonly routing_token: Redacted.Redacted; readonly hostname: string },
      failure: IssuanceFailure
    ) => Effect.Effect<Admission, HostnameUnknown | NotHostnameOwner>
  }
>()("server/certificates/Admissions") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { mayIssue, owns, ask, fail }),
    owned: Effect.fn("Admissions.owned")(function* (path: Parameters<typeof read>[0]) {
      const { hostname, token } = yield* read(path)
      yield* standingOf(state, token, hostname)
      return { hostname }
    }, sqlOrDie),
    see: Effect.fn("Admissions.see")(
      (hostname, chain) => seen(state, hostname, chain),
      state.hosts.transaction,
      sqlOrDie
    ),
    complete: Effect.fn("Admissions.complete")(function* (
      path: Parameters<typeof read>[0],
      chain?: ReadonlyArray<X509Certificate>
    ) {
      const { hostname, token } = yield* read(path)
      const receipt = yield* complete(state, token, hostname, {
        chain,
        isEnforced: yield* isEnforced(state, token)
      })
      yield* state.outbox.deliver(receipt).pipe(
        Effect.andThen(confirm(state, token, hostname)),
        Effect.catch((cause) => Effect.logWarning("The edge has not confirmed passthrough yet.", cause)),
        Effect.timeoutOption("5 seconds")
      )
    }, sqlOrDie)
  }))

  static readonly layerNoDeps = Layer.effect(Admissions, Admissions.make)
  static readonly layer = Admissions.layerNoDeps.pipe(
    Layer.provide([
      CaSelection.layer,
      CertificateAuthorities.layer,
      EdgeFacts.layer,
      HostnameProofs.layer,
      Hosts.layer,
      HostStore.layer,
      Outbox.layer
    ])
  )
}
