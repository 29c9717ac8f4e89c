/**
 * Maintains the certificate of one host name: checks whether it exists and is due, orders it when the control plane permits, and
 * reports it.
 */
import { certificateId } from "@catenet/crypto/x509/CertificateId"
import type { Admission, CertificateAuthority } from "@catenet/domain/certificates/Admission"
import { IssuanceFailure } from "@catenet/domain/certificates/CertificateStanding"
import { clause, ended } from "@catenet/domain/values/Sentence"
import { Clock, DateTime, Effect, Option, Schedule } from "effect"
import { createHash, type X509Certificate } from "node:crypto"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { decoded } from "./AcmeAccount.ts"
import { Directory, RenewalInfo } from "./AcmeDocuments.ts"
import type { AcmeFailed } from "./AcmeFailed.ts"
import * as AcmeOrder from "./AcmeOrder.ts"
import * as AcmeTransport from "./AcmeTransport.ts"
import * as Folder from "./CertificateFolder.ts"
import * as CertificateOptions from "./CertificateOptions.ts"
import type { Options } from "./CertificateOptions.ts"
import { waiting } from "./CertificateProgress.ts"
import { CertificateQueueClient, HostnameGone } from "./CertificateQueueClient.ts"
import * as Issuance from "./Issuance.ts"
import * as ReloadCommand from "./ReloadCommand.ts"
import * as RenewalSchedule from "./RenewalSchedule.ts"
import { judgedTime, type Outcome } from "./RenewalSchedule.ts"

// When the CA suggests renewal (RFC 9773). If it cannot be asked, there is no suggestion.

/** The certificate's ARI identifier; undefined if it does not name its issuer. */
const idOf = (leaf: X509Certificate) => Option.getOrUndefined(certificateId(leaf.raw))

const suggested = Effect.fnUntraced(
  function* (leaf: X509Certificate, directoryUrl: string, roots: string | undefined) {
    const id = idOf(leaf)
    const { call, server } = AcmeTransport.make(directoryUrl, roots)
    const { renewalInfo } = yield* decoded(server, "its directory", Directory, yield* call("GET", directoryUrl))
    if (renewalInfo === undefined || id === undefined) return undefined
    const answer = yield* call("GET", `${renewalInfo.replace(/\/$/, "")}/${id}`)
    const { suggestedWindow } = yield* decoded(server, "its renewal information", RenewalInfo, answer)
    return {
      start: DateTime.toEpochMillis(suggestedWindow.start),
      end: DateTime.toEpochMillis(suggestedWindow.end)
    } satisfies RenewalSchedule.Window
  },
  Effect.tapError((error) => Effect.logDebug(error.message)),
  Effect.orElseSucceed(() => undefined)
)

/** A number from 0 to 1 derived from the certificate, so that a restart does not choose another time. */
const shareOf = (leaf: X509Certificate) => createHash("sha256").update(leaf.raw).digest().readUInt32BE(0) / 2 ** 32

/** When to renew, in Unix milliseconds. `directory` is the issuing CA's, if known. */
export const suggestedTime = Effect.fn("Certificates.dueAt")(function* (
  leaf: X509Certificate,
  directory: string | undefined,
  roots: string | undefined
) {
  const window = directory === undefined ? undefined : yield* suggested(leaf, directory, roots)
  const lifetime = { notBefore: leaf.validFromDate.getTime(), notAfter: leaf.validToDate.getTime() }
  return RenewalSchedule.dueAt(lifetime, window, shareOf(leaf))
})

/** The CA's clock in Unix milliseconds; undefined if it cannot be asked. */
const dateOf = Effect.fn("Certificates.dateOf")(function* (directory: string, roots: string | undefined) {
  const { call } = AcmeTransport.make(directory, roots)
  return yield* call("GET", directory).pipe(
    Effect.map(({ date }) => date),
    Effect.orElseSucceed(() => undefined)
  )
})

/** Reports that the certificate is installed. Stored until it has succeeded. */
const complete = Effect.fnUntraced(function* (options: Options) {
  // From now on, visitors go to an agent that has the pair.
  yield* options.changed ?? Effect.void
  const admission = yield* CertificateQueueClient
  const chain = yield* Folder.chain(options.places)
  yield* Effect.retry(admission.complete(options, chain), {
    schedule: Schedule.exponential("250 millis"),
    times: 3,
    while: ({ _tag }) => _tag === "Unreachable"
  })
  const { completion: _, ...state } = yield* Folder.readState(options.places)
  yield* Folder.writeState(options.places, state)
  yield* Effect.logInfo(`${options.hostname} has a certificate of its own; its visitors are passed through unread`)
})

const covers = (leaf: X509Certificate, host: string, now: number) =>
  leaf.checkHost(host, { subject: "never" }) !== undefined && leaf.validToDate.getTime() > now

/** The installed certificate, if it is valid for this name, and when to renew it. */
const current = Effect.fnUntraced(function* (options: Options, now: number) {
  const leaf = yield* Folder.leaf(options.places)
  if (leaf === undefined || !covers(leaf, options.hostname, now)) return undefined
  const { issued, revoked } = yield* Folder.readState(options.places)
  if (revoked === leaf.fingerprint256) return undefined
  const directory = issued?.fingerprint === leaf.fingerprint256 ? issued.directory : undefined
  return { leaf, dueAt: yield* suggestedTime(leaf, directory, options.roots) }
})

/**
 * Makes the server that uses the pair load it, once for each certificate. If that fails, the certificate is not reported: the
 * edge keeps terminating TLS instead of passing visitors to a server without a certificate.
 */
const reloaded = Effect.fnUntraced(function* (
  { places, progress, reload }: Options,
  { fingerprint256 }: X509Certificate
) {
  const { unloaded, ...state } = yield* Folder.readState(places)
  if (unloaded !== fingerprint256) return undefined
  if (reload !== undefined) yield* progress === undefined ? Effect.void : progress.step("installing")
  const failed = reload === undefined ? undefined : yield* ReloadCommand.run(reload, places.folder)
  if (failed !== undefined)
    return {
      _tag: "Failed",
      sentence: `The new certificate is there, but CT_ACME_RELOAD_CMD failed: ${clause(failed)}.`,
      retryAfter: undefined,
      haste: "offer",
      isUnreachable: false,
      isUnanswered: false
    } satisfies Outcome
  yield* Folder.writeState(places, state)
  if (reload !== undefined) yield* Effect.logInfo("CT_ACME_RELOAD_CMD was run")
  return undefined
})

/** More authorities than one would ever be assigned in a row. */
const maxAuthorities = 5

const oneLine = (text: string) =>
  text
    .replace(/[\p{Cc}\s]+/gu, " ")
    .slice(0, 500)
    .toWellFormed()

/** Reports why a CA failed. Returns the next admission, if it names another CA. */
const giveBack = Effect.fnUntraced(function* (options: Options, ca: string, error: AcmeFailed) {
  const { retryAfter } = error
  const admission = yield* CertificateQueueClient
  const next = yield* admission.fail(
    options,
    IssuanceFailure.make({
      ca,
      reason: error.reason,
      detail: oneLine(error.message),
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter })
    })
  )
  return next === undefined || !next.may_issue_now || next.assigned_ca === null || next.assigned_ca.name === ca
    ? undefined
    : next
})

/** Orders at the assigned CA, and at its replacement if it fails. */
const obtained: (
  options: Options,
  ca: CertificateAuthority,
  now: number,
  replaces: string | undefined,
  tried?: number
) => ReturnType<typeof Issuance.obtain> = (options, ca, now, replaces, tried = 1) =>
  Effect.catchTag(Issuance.obtain(options, ca, now, replaces), "AcmeFailed", (error) =>
    Effect.gen(function* () {
      if (options.authority !== undefined) return yield* error
      const next = yield* giveBack(options, ca.name, error)
      if (next === undefined || next.assigned_ca === null || tried >= maxAuthorities) return yield* error
      yield* Effect.logInfo(`${ended(error.message)} The next authority is ${next.assigned_ca.name}.`)
      return yield* obtained(options, next.assigned_ca, now, replaces, tried + 1)
    })
  )

/** The name, or this agent among those of the tunnel, has to wait; the text is the control plane's reason. */
const waits = Effect.fnUntraced(function* (options: Options, status: Admission["status"], isTurn: boolean) {
  const standing = yield* CertificateQueueClient.use(({ standing }) => standing(options))
  const text = standing === undefined ? "waits for its turn" : waiting(standing)
  return { _tag: "Waiting", status, note: text, isTurn } satisfies Outcome
})

const order = Effect.fnUntraced(function* (
  options: Options,
  { assigned_ca: ca, may_issue_now, status }: Admission,
  found: Effect.Success<ReturnType<typeof current>>,
  now: number
) {
  const { progress } = options
  if (!may_issue_now || ca === null) return yield* waits(options, status, false)
  yield* Folder.check(options.places)
  if (progress !== undefined && !(yield* progress.step("ordering"))) return yield* waits(options, status, true)
  const replaces = found === undefined ? undefined : idOf(found.leaf)
  const leaf = yield* Effect.onError(obtained(options, ca, now, replaces), () =>
    progress === undefined ? Effect.void : Effect.ignore(progress.step("waiting"))
  )
  yield* Effect.logInfo(`${options.hostname} has a new certificate, valid until ${leaf.validTo}`)
  const unread = yield* reloaded(options, leaf)
  if (unread !== undefined) return unread
  yield* complete(options)
  const dueAt = yield* suggestedTime(leaf, undefined, options.roots)
  return { _tag: "Issued", dueAt, until: leaf.validToDate.getTime(), now } satisfies Outcome
})

/** The tunnel was deleted: its certificate is of no use to anybody but a thief of its key. */
const revoke = Effect.fnUntraced(
  function* ({ hostname, places, roots }: Options) {
    if (yield* AcmeOrder.revoke(places, roots))
      yield* Effect.logInfo(`the tunnel of ${hostname} is deleted; its certificate was revoked`)
  },
  Effect.catch(({ message }) =>
    Effect.logWarning(`the tunnel is deleted, and its certificate could not be revoked: ${message}`)
  )
)

/** Asks the control plane about the name. If it no longer knows the name, its certificate is revoked. */
const asked = (options: Options) =>
  Effect.tapErrorTag(
    CertificateQueueClient.use(({ ask }) => ask(options)),
    "Refused",
    (refused) => (refused instanceof HostnameGone ? revoke(options) : Effect.void)
  )

const failure = (error: AcmeFailed, { claim_deadline, status }: Admission): Outcome => ({
  _tag: "Failed",
  sentence: error.message,
  retryAfter: error.retryAfter,
  haste: claim_deadline !== null || status !== "gruen" ? "offer" : "renewal",
  isUnreachable: error.reason === "ca-unavailable",
  isUnanswered: error.reason === "ca-unavailable" && error.type === undefined
})

const looked = Effect.fnUntraced(function* (options: Options) {
  const { authority, hostname, places } = options
  yield* Folder.repair(places)
  const answer = asked(options)
  const { admission, date: serverDate } = yield* authority === undefined
    ? answer
    : CertificateOptions.withCustomCa(authority, answer)
  // If the control plane is unreachable, the user's CA provides the time.
  const date = serverDate ?? (authority === undefined ? undefined : yield* dateOf(authority.directory, options.roots))
  const own = yield* Clock.currentTimeMillis
  const now = judgedTime(own, date)
  if (now !== own) yield* Effect.logWarning("the clock of this machine is wrong; that of the other side is used")
  const found = yield* current(options, now)
  const unread = found === undefined ? undefined : yield* reloaded(options, found.leaf)
  if (unread !== undefined) return unread
  const { completion, order: open } = yield* Folder.readState(places)
  const isDue = found === undefined || now >= found.dueAt || open?.hostname === hostname
  // If this report is lost, the name stays edge-terminated (gelb) forever.
  if (found !== undefined && (completion === hostname || admission.status !== "gruen"))
    yield* authority !== undefined && isDue ? Effect.ignore(complete(options)) : complete(options)
  if (!isDue)
    return { _tag: "Current", dueAt: found.dueAt, until: found.leaf.validToDate.getTime(), now } satisfies Outcome
  return yield* Effect.catchTag(order(options, admission, found, now), "AcmeFailed", (error) =>
    Effect.succeed(failure(error, admission))
  )
})

/** Repairs what an interrupted process left, unless another one is active. Failures are logged. */
export const repair = Effect.fn("Certificates.repair")(
  function* (places: Folder.Places) {
    yield* PrivateFile.folder(places.folder)
    if (yield* FolderLock.take(places.folder, ".acme.lock")) yield* Folder.repair(places)
  },
  Effect.scoped,
  Effect.catchTag("StateUnusable", ({ message }) => Effect.logWarning(message))
)

/** Checks once and does what is due. Undefined if another process is active in this folder. */
export const look = Effect.fn("Certificates.look")(function* (options: Options) {
  yield* PrivateFile.folder(options.places.folder)
  return (yield* FolderLock.take(options.places.folder, ".acme.lock")) ? yield* looked(options) : undefined
}, Effect.scoped)

/** The edge no longer serves this tunnel: asks whether it was deleted. Orders nothing. */
export const leave = Effect.fn("Certificates.leave")(
  function* (options: Options) {
    yield* PrivateFile.folder(options.places.folder)
    if (yield* FolderLock.take(options.places.folder, ".acme.lock")) yield* asked(options)
  },
  Effect.scoped,
  (leaving) => Effect.ignore(Effect.timeoutOption(leaving, "20 seconds"))
)
