/**
 * Orders one certificate, from the account to the files. Each step that cannot be repeated is stored before the next one begins,
 * so that after a crash the same order continues with the same key.
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import type { CertificateAuthority } from "@catenet/domain/certificates/Admission"
import type { IssuanceStep } from "@catenet/domain/certificates/CertificateStanding"
import { Clock, Effect, Redacted, Result } from "effect"
import { calculateJwkThumbprint, exportJWK } from "jose"
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto"
import * as AcmeAccount from "./AcmeAccount.ts"
import { AcmeFailed, improper, untrusted } from "./AcmeFailed.ts"
import * as AcmeOrder from "./AcmeOrder.ts"
import type { Prove } from "./AcmeOrder.ts"
import type { Method } from "./AcmeOrderStep.ts"
import * as AcmeTransport from "./AcmeTransport.ts"
import * as CertificateChain from "./CertificateChain.ts"
import * as Folder from "./CertificateFolder.ts"
import { newKey, pemOf } from "./CertificateFolder.ts"
import type { CertificateProgress } from "./CertificateProgress.ts"
import { type Asked, CertificateQueueClient } from "./CertificateQueueClient.ts"
import * as Challenges from "./Challenges.ts"
import * as DnsProofRetry from "./DnsProofRetry.ts"

/** Publishes the proof of a host name until the scope closes, by either method. */
const day = 86_400_000

/** The serving agent of this state folder shows a certificate with the proof. */
const byTls =
  ({ hostname }: Asked, stateDir: string): Prove =>
  (keyAuthorization) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const key = newKey()
      const validity = { from: now - day, until: now + 7 * day }
      const der = Certificate.mintChallenge(hostname, key, keyAuthorization, validity)
      yield* Challenges.offer(stateDir, hostname, { certificate: Certificate.pem(der), key: pemOf(key) })
    })

/** The control plane publishes the proof, if it has a DNS server. */
const byDns =
  (asked: Asked, { clear, publish }: CertificateQueueClient["Service"]): Prove =>
  (keyAuthorization) =>
    Effect.gen(function* () {
      const value = createHash("sha256").update(keyAuthorization).digest("base64url")
      yield* Effect.addFinalizer(() => clear(asked))
      if ((yield* publish(asked, value)) === "no broker")
        return yield* new AcmeFailed({
          reason: "dns",
          detail: `The control plane publishes no proof of ${asked.hostname} in DNS.`,
          type: notAvailable
        })
    })

/** The type of a failure meaning that a method cannot be used at all. */
const notAvailable = "notOffered"

const fulfill = (
  method: Method,
  asked: Asked,
  stateDir: string,
  admission: CertificateQueueClient["Service"]
): Prove => (method === "tls-alpn-01" ? byTls(asked, stateDir) : byDns(asked, admission))

export interface Options extends Asked {
  readonly places: Folder.Places
  /** The folder in which the serving agent looks for proofs. */
  readonly stateDir: string
  /** Roots for the CA's server, PEM; undefined for the system's. */
  readonly roots: string | undefined
  /** Methods in the order in which they are tried. */
  readonly methods: ReadonlyArray<Method>
  /** If undefined, orders are not reported, and other agents of the tunnel are not waited for. */
  readonly progress?: CertificateProgress
  /** Whether a validation always reaches this agent of the tunnel; otherwise DNS is tried first. */
  readonly isReached?: () => boolean
  /** Tells the edge about changes of the proof or the pair; undefined if no agent serves in this process. */
  readonly changed?: Effect.Effect<void>
}

/** Another method may succeed where these failed. */
const mayTryAnother = ({ reason, type }: AcmeFailed) =>
  type === notAvailable || reason === "connection" || reason === "dns"

/** The type of a failure in which the order's certificate is not the one ordered; the order has no other. */
const wrongCertificate = "wrongCertificate"

/** After these the order is still there. */
const staysOpen = ({ reason, type }: AcmeFailed) =>
  (reason === "ca-unavailable" && type !== wrongCertificate) ||
  type === notAvailable ||
  type === DnsProofRetry.notPublished

const bindingOf = ({ eab_hmac_key_b64url: hmac, eab_kid: kid, requires_eab }: CertificateAuthority) =>
  requires_eab && kid !== null && hmac !== null ? { kid, hmac: Redacted.make(hmac) } : undefined

/** The account of this directory, which is remembered for this key. */
const account = Effect.fnUntraced(function* ({ places, roots }: Options, ca: CertificateAuthority) {
  const { directory_url: directory } = ca
  const key = yield* Folder.accountKey(places)
  const thumbprint = yield* Effect.promise(async () => calculateJwkThumbprint(await exportJWK(createPublicKey(key))))
  const state = yield* Folder.readState(places)
  const known = state.accounts.find((each) => each.directory === directory && each.thumbprint === thumbprint)
  const opened = yield* AcmeAccount.open(AcmeTransport.make(directory, roots), {
    directory,
    key,
    known: known?.url,
    binding: bindingOf(ca)
  })
  const others = state.accounts.filter((each) => each.directory !== directory)
  if (known === undefined)
    yield* Folder.writeState(places, { ...state, accounts: [...others, { directory, thumbprint, url: opened.url }] })
  return opened
})

/** If the server no longer knows the account, a new one is created at the next attempt. */
const forgetAccount = Effect.fnUntraced(function* ({ places }: Options, { directory_url }: CertificateAuthority) {
  const state = yield* Folder.readState(places)
  const accounts = state.accounts.filter(({ directory }) => directory !== directory_url)
  yield* Folder.writeState(places, { ...state, accounts })
})

const forgetOrder = Effect.fnUntraced(function* ({ places }: Options) {
  const { order: _order, placing: _placing, ...state } = yield* Folder.readState(places)
  yield* Folder.writeState(places, state)
})

interface Placed extends AcmeOrder.Placed {
  readonly key: KeyObject
}

const place = (acme: AcmeAccount.AcmeAccount, hostname: string, replaces: string | undefined) =>
  Effect.catchTag(AcmeOrder.place(acme, hostname, replaces), "AcmeFailed", (error) =>
    error.type === "alreadyReplaced" ? AcmeOrder.place(acme, hostname, undefined) : Effect.fail(error)
  )

/**
 * The open order for this name at this CA, or a new one. An order whose response was lost in a crash is looked up at the server.
 */
const openOrder = Effect.fnUntraced(function* (
  { hostname, places }: Options,
  ca: CertificateAuthority,
  acme: AcmeAccount.AcmeAccount,
  replaces: string | undefined
): Effect.fn.Return<Placed, Effect.Error<ReturnType<typeof account>>, Effect.Services<ReturnType<typeof account>>> {
  const state = yield* Folder.readState(places)
  const { order } = state
  if (order !== undefined && order.directory === ca.directory_url && order.hostname === hostname) {
    const found = yield* Effect.result(AcmeOrder.read(acme, order.url))
    if (Result.isSuccess(found) && found.success.order.status !== "invalid")
      return { ...found.success, key: createPrivateKey(order.key) }
    // A server would repeat an invalid response about this order, so a new order is placed.
    if (Result.isFailure(found) && found.failure.reason === "ca-unavailable" && found.failure.type !== improper)
      return yield* found.failure
  }
  const { placing, ...others } = state
  const directory = ca.directory_url
  const key = Folder.newKey()
  // Another CA does not know the certificate.
  const mine = state.issued?.directory === directory ? replaces : undefined
  const wasPlaced = placing?.directory === directory && placing.hostname === hostname
  yield* Folder.writeState(places, { ...others, placing: { directory, hostname } })
  const found = wasPlaced ? yield* AcmeOrder.find(acme, hostname) : undefined
  const placed = found ?? (yield* place(acme, hostname, mine))
  const remembered = { ca: ca.name, directory, hostname, url: placed.url, key: Folder.pemOf(key) }
  yield* Folder.writeState(places, { ...others, order: remembered })
  return { ...placed, key }
})

/** Installs the pair; from now on the control plane must be told. */
const store = Effect.fnUntraced(function* (
  { hostname, places }: Options,
  ca: CertificateAuthority,
  key: KeyObject,
  chain: CertificateChain.Checked
) {
  yield* Folder.writePair(places, key, chain.pem)
  const { order: _, ...state } = yield* Folder.readState(places)
  const { fingerprint256: fingerprint } = chain.leaf
  const issued = { fingerprint, directory: ca.directory_url }
  yield* Folder.writeState(places, { ...state, completion: hostname, issued, unloaded: fingerprint })
})

/** Orders a certificate and installs it. `now` is the time against which its dates are checked. */
export const obtain = Effect.fn("Issuance.obtain")(function* (
  options: Options,
  ca: CertificateAuthority,
  now: number,
  replaces: string | undefined
) {
  const { changed = Effect.void, hostname, isReached, methods, progress, stateDir } = options
  const report = (step: IssuanceStep) => (progress === undefined ? Effect.void : Effect.asVoid(progress.step(step)))
  const admission = yield* CertificateQueueClient
  const acme = yield* account(options, ca)

  const attempt = Effect.fnUntraced(function* (method: Method) {
    const placed = yield* openOrder(options, ca, acme, replaces)
    const prove: AcmeOrder.Prove = (keyAuthorization) =>
      Effect.gen(function* () {
        yield* report(method === "dns-01" ? "waiting-for-dns" : "proving")
        yield* fulfill(method, options, stateDir, admission)(keyAuthorization)
        yield* changed
        yield* report("waiting-for-ca")
      })
    yield* Effect.logInfo(`ordering a certificate for ${hostname} at ${ca.name}, proved by ${method}`)
    const text = yield* AcmeOrder.fulfil(acme, placed, hostname, placed.key, method, prove)
    const chain = yield* Effect.mapError(
      Effect.fromResult(CertificateChain.check(text, { host: hostname, key: placed.key, now })),
      (what) => untrusted(acme.server, what, wrongCertificate)
    )
    yield* store(options, ca, placed.key, chain)
    return chain.leaf
  })

  const failed = Effect.fnUntraced(function* (error: AcmeFailed) {
    if (error.type === "accountDoesNotExist") yield* forgetAccount(options, ca)
    if (!staysOpen(error)) yield* forgetOrder(options)
  })

  const tried = (method: Method) => attempt(method).pipe(Effect.tapErrorTag("AcmeFailed", failed))
  const [first = "dns-01", ...others] = isReached?.() === false ? methods.toReversed() : methods
  return yield* others.reduce(
    (before, method) =>
      Effect.catchTag(before, "AcmeFailed", (error) =>
        mayTryAnother(error)
          ? Effect.andThen(
              Effect.logInfo(error.message),
              // The first method's error is more useful than the fact that the second one is unavailable.
              Effect.mapError(tried(method), (next) =>
                next._tag === "AcmeFailed" && next.type === notAvailable && error.type !== notAvailable ? error : next
              )
            )
          : Effect.fail(error)
      ),
    tried(first)
  )
})
