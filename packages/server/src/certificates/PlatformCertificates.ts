/**
 * Orders and renews certificates for the platform's own names, and for gelb hosts as soon as they exist, and gives them to edges:
 * sealed in the database, and sealed for the edge that asks on their way. A host is proved by TLS-ALPN-01, which every edge can
 * answer; where a DNS back end has the zone of tunnels, one wildcard for it is proved by DNS-01 instead.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import { TicketKeysRefused } from "@catenet/domain/edges/EdgeErrors"
import {
  type CertificatesRequest,
  certificatesInAnswer,
  charactersOfChain,
  HostCertificates,
  SealedCertificates,
  SealedPair
} from "@catenet/domain/edges/HostCertificates"
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import { Context, Effect, FiberSet, Layer, Option, Result, Schedule, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { X509Certificate } from "node:crypto"
import * as DnsBackend from "../dns/DnsBackend.ts"
import { DnsProvider, isWithin } from "../dns/DnsProvider.ts"
import { EdgeStore } from "../edges/EdgeStore.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import type { Authority } from "../settings/CertificateVariables.ts"
import { Settings } from "../settings/Settings.ts"
import { Sealing } from "../store/Sealing.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { HostnameRules } from "../tunnels/hostnames/HostnameRules.ts"
import { CertificateOrders, type Issued, OrderFailed } from "./CertificateOrders.ts"
import * as Store from "./PlatformCertificateStore.ts"
import * as PlatformProofs from "./PlatformProofs.ts"

const tickEvery = "2 seconds"
/** Orders that a replica runs at a time; of one account half as many. */
const atOnce = 4
/** Seconds between two questions of when a certificate is to be renewed. */
const askEvery = 21_600
/** The first pause after a failure, in seconds; each next one is four times as long, up to the last. */
const firstPause = 60
const lastPause = 21_600
const longestReason = 1_000

const plainOf = Schema.encodeSync(Schema.fromJsonString(HostCertificates))
const readPair = Schema.decodeSync(SealedPair)

const makeState = Effect.gen(function* () {
  const { platformAuthorityRoots: roots, platformHosts, portalBaseUrl } = yield* Settings
  const { zone } = yield* HostnameRules
  const provider = yield* DnsProvider
  const covered = zone !== undefined && provider.zone !== undefined && isWithin(zone, provider.zone)
  const own = [...(platformHosts ?? [portalBaseUrl.hostname]), ...(covered ? [`*.${zone}`] : [])]
  const store = yield* Store.make(zone, covered, own)
  return {
    store,
    /** The orders that run here, by host, and whose they are. */
    running: new Map<string, string | null>(),
    run: yield* FiberSet.makeRuntime<never>(),
    proofs: yield* PlatformProofs.make(store),
    client: yield* CertificateOrders,
    edges: yield* EdgeStore,
    random: yield* SecureRandom.SecureRandom,
    roots: roots === undefined ? undefined : yield* Effect.promise(() => Files.readFile(roots, "utf8")),
    ...(yield* Sealing)
  }
})
type State = Effect.Success<typeof makeState>

const pairOf = ({ open }: State, chain: string | null, key: string | null) =>
  chain === null || key === null
    ? null
    : Result.match(open("platform_certificates.key", key), {
        onFailure: () => null,
        onSuccess: (plain) => readPair({ chain, key: plain })
      })

const accountAt = Effect.fnUntraced(function* (
  { open, roots, seal, store }: State,
  { binding, directoryUrl: directory }: Authority
) {
  const fresh = seal("platform_accounts.key", PlatformProofs.pemOf(Entropy.newEcKey()))
  const { key: sealed, url } = yield* sqlOrDie(store.account({ directory, key: fresh }))
  const key = yield* Effect.fromResult(open("platform_accounts.key", sealed)).pipe(
    Effect.mapError(({ message }) => new OrderFailed({ why: message }))
  )
  return { directory, roots, binding, key, url: url ?? undefined }
})

const keep = Effect.fnUntraced(function* (
  { seal, store }: State,
  host: string,
  { chain, key }: Issued,
  renewAt: number
) {
  const now = yield* unixSeconds
  if (chain.length > charactersOfChain)
    return yield* new OrderFailed({ why: `The chain of ${host} is longer than ${charactersOfChain} characters.` })
  const endsAt = Math.floor(new X509Certificate(chain).validToDate.getTime() / 1_000)
  const dueAt = Math.min(renewAt, now + askEvery)
  const row = { chain, key: seal("platform_certificates.key", key), endsAt, now, dueAt }
  yield* sqlOrDie(store.issued(host, row))
  yield* Effect.logInfo(`${host} has a certificate until ${new Date(endsAt * 1_000).toISOString()}`)
})

/** Orders the certificate, unless the authority does not want it to be renewed yet. */
const order = Effect.fnUntraced(function* (state: State, authority: Authority, host: string, chain: string | null) {
  const { client, proofs, store } = state
  const account = yield* accountAt(state, authority)
  const now = yield* unixSeconds
  const renewAt = chain === null ? now : yield* client.dueAt(chain, account)
  if (renewAt > now) return void (yield* sqlOrDie(store.postpone(host, Math.min(renewAt, now + askEvery))))
  const issued = yield* client.order({
    account,
    host,
    method: proofs.method(host),
    replaces: chain ?? undefined,
    prove: (keyAuthorization) => proofs.prove(host, keyAuthorization)
  })
  yield* sqlOrDie(store.registered(authority.directoryUrl, issued.url))
  yield* keep(state, host, issued, yield* client.dueAt(issued.chain, account))
})

const settle = (state: State, authority: Authority, { chain, failures, host }: Store.Due) =>
  order(state, authority, host, chain).pipe(
    Effect.catchTag("OrderFailed", ({ retryAfter = 0, why }) =>
      Effect.gen(function* () {
        const pause = Math.max(retryAfter, Math.min(firstPause * 4 ** failures, lastPause))
        const consequence = chain === null ? "has no certificate" : "keeps its certificate"
        yield* Effect.logWarning(`${host} ${consequence}; it is tried again in ${pause} s. ${why}`)
        yield* sqlOrDie(state.store.failed(host, why.slice(0, longestReason), (yield* unixSeconds) + pause))
      })
    )
  )

/** Accounts that have as many orders running as one may have while others wait. */
const busyAccounts = ({ running }: State) => {
  const accounts = [...running.values()].filter((account) => account !== null)
  return accounts.filter((account, index) => accounts.indexOf(account) !== index)
}

/** Starts the orders for which there is a place; they go on by themselves. */
const tick = Effect.fnUntraced(function* (state: State, authority: Authority) {
  const { run, running, store } = state
  yield* sqlOrDie(store.want(yield* unixSeconds))
  while (running.size < atOnce) {
    const now = yield* unixSeconds
    const due = yield* store.lock.pipe(
      Effect.andThen(store.claim({ now, budget: authority.weeklyBudget, busy: busyAccounts(state) })),
      Effect.tap((found) => Effect.forEach(Option.toArray(found), ({ host }) => store.takeTurn(host, now))),
      store.transaction,
      sqlOrDie
    )
    if (Option.isNone(due)) {
      if (running.size === 0) yield* sqlOrDie(store.rest(now))
      return
    }
    const { account, host } = due.value
    running.set(host, account)
    const ordering = settle(state, authority, due.value).pipe(
      Effect.catchCause((cause) => Effect.logWarning(`The order for ${host} failed.`, cause)),
      Effect.ensuring(Effect.ignore(store.leaveTurn(host))),
      Effect.ensuring(Effect.sync(() => running.delete(host)))
    )
    run(ordering)
  }
})

const answer = Effect.fnUntraced(function* (state: State, { id, key, signature, since }: CertificatesRequest) {
  const { edges, proofs, random, store } = state
  const question = { id, message: bytesOf(key) }
  const pinned = Option.getOrUndefined(yield* edges.pinnedKey(id))?.pubkey ?? undefined
  if (pinned === undefined || !Exchange.verify(native, bytesOf(pinned), question, bytesOf(signature)))
    return yield* new TicketKeysRefused()
  const { last } = yield* store.last()
  // The database was restored from a backup and knows less than the edge, which therefore gets everything again.
  const from = since > last ? 0 : since
  const found = last === from ? [] : yield* store.since({ since: from, limit: certificatesInAnswer })
  const revision = found.at(-1)?.revision ?? from
  yield* store.note(id, from, yield* unixSeconds)
  if (found.length === 0) return new SealedCertificates({ revision })
  const changed = found.map(({ chain, challenge, host, key }) => ({
    host,
    certificate: pairOf(state, chain, key),
    challenge: proofs.shown(challenge)
  }))
  const entropy = yield* random.randomBytes(32)
  const sealed = Exchange.answer(native, question, entropy, Bytes.fromText(plainOf(changed)))
  return new SealedCertificates({ revision, sealed: Hex.encode(yield* Effect.orDie(Effect.fromResult(sealed))) })
})

export class PlatformCertificates extends Context.Service<
  PlatformCertificates,
  {
    /** The certificates and challenges that changed since the edge asked last. */
    readonly answer: (request: CertificatesRequest) => Effect.Effect<SealedCertificates, TicketKeysRefused>
    /** Starts the orders that are due. Does nothing without CT_CP_PLATFORM_ACME. */
    readonly tick: Effect.Effect<void>
    /** Deletes edges that are gone. */
    readonly prune: Effect.Effect<void>
  }
>()("server/certificates/PlatformCertificates") {
  static readonly make = Effect.gen(function* () {
    const { platformAuthority } = yield* Settings
    const state = yield* makeState
    return {
      answer: Effect.fn("PlatformCertificates.answer")((request: CertificatesRequest) =>
        sqlOrDie(answer(state, request))
      ),
      tick: platformAuthority === undefined ? Effect.void : tick(state, platformAuthority),
      prune: Effect.asVoid(Effect.orDie(Effect.flatMap(unixSeconds, state.store.pruneEdges)))
    }
  })

  static readonly layer = Layer.effect(PlatformCertificates, PlatformCertificates.make).pipe(
    Layer.provide([DnsBackend.layer, EdgeStore.layer, HostnameRules.layer])
  )
}

/** Orders certificates for as long as the layer lives. */
export const orderLoop = Layer.effectDiscard(
  Effect.gen(function* () {
    const { platformAuthority } = yield* Settings
    const certificates = yield* PlatformCertificates
    if (platformAuthority === undefined) return
    yield* certificates.tick.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Ordering the platform's certificates failed.", cause)),
      Effect.repeat(Schedule.spaced(tickEvery)),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([PlatformCertificates.layer]))
