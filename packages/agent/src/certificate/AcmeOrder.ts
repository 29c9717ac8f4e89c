/** Completes one order for one host name, and revokes its certificate. The state between steps is the server's. */
import * as CertificateRequest from "@catenet/crypto/x509/CertificateRequest"
import { Effect, type FileSystem, Schedule, type Scope } from "effect"
import { calculateJwkThumbprint, exportJWK } from "jose"
import { createPublicKey, type KeyObject } from "node:crypto"
import type { StateUnusable } from "../Failure.ts"
import * as AcmeAccount from "./AcmeAccount.ts"
import { decoded } from "./AcmeAccount.ts"
import * as Documents from "./AcmeDocuments.ts"
import { AcmeFailed, improper, ofProblem, untrusted } from "./AcmeFailed.ts"
import { type Method, type Progress, stepOf } from "./AcmeOrderStep.ts"
import * as AcmeTransport from "./AcmeTransport.ts"
import type { Answer } from "./AcmeTransport.ts"
import * as Folder from "./CertificateFolder.ts"

// Revokes a certificate (RFC 8555 section 7.6) whose tunnel was deleted. Best effort.

/** RFC 5280 section 5.3.1: the name is no longer in use. */
const cessationOfOperation = 5

/**
 * Revokes the installed certificate if this agent ordered it, with the account that ordered it. False if there is none, or it was
 * already revoked.
 */
export const revoke = Effect.fn("AcmeOrder.revoke")(function* (places: Folder.Places, roots: string | undefined) {
  const leaf = yield* Folder.leaf(places)
  const state = yield* Folder.readState(places)
  const { issued } = state
  if (leaf === undefined || issued === undefined || issued.fingerprint !== leaf.fingerprint256) return false
  if (state.revoked === leaf.fingerprint256) return false
  const key = yield* Folder.accountKey(places)
  const thumbprint = yield* Effect.promise(async () => calculateJwkThumbprint(await exportJWK(createPublicKey(key))))
  const { directory } = issued
  const known = state.accounts.find((each) => each.directory === directory && each.thumbprint === thumbprint)
  if (known === undefined) return false
  const transport = AcmeTransport.make(directory, roots)
  const acme = yield* AcmeAccount.open(transport, { directory, key, known: known.url, binding: undefined })
  const { revokeCert } = acme.directory
  if (revokeCert === undefined) return false
  yield* acme.post(revokeCert, { certificate: leaf.raw.toString("base64url"), reason: cessationOfOperation }).pipe(
    Effect.catchIf(
      (error): error is AcmeFailed => error instanceof AcmeFailed && error.type === "alreadyRevoked",
      () => Effect.void
    )
  )
  yield* Folder.writeState(places, { ...(yield* Folder.readState(places)), revoked: leaf.fingerprint256 })
  return true
})

const pollSeconds = 3
/** Of the whole order, with the time that DNS needs. */
const orderBound = "300 seconds"

/** Publishes the proof while the scope is open. */
export type Prove = (
  keyAuthorization: string
) => Effect.Effect<void, AcmeFailed | StateUnusable, FileSystem.FileSystem | Scope.Scope>

/** An order at its server. */
export interface Placed {
  readonly url: string
  readonly order: Documents.Order
}

/** Places an order for one name. `replaces` identifies the certificate being renewed, if the server supports it (RFC 9773). */
export const place = Effect.fn("AcmeOrder.place")(function* (
  { directory, post, server }: AcmeAccount.AcmeAccount,
  host: string,
  replaces: string | undefined
) {
  const identifiers = [{ type: "dns", value: host }]
  const answer = yield* post(
    directory.newOrder,
    replaces === undefined || directory.renewalInfo === undefined ? { identifiers } : { identifiers, replaces }
  )
  const order = yield* decoded(server, "its order", Documents.Order, answer)
  const { location: url } = answer
  return url === undefined ? yield* untrusted(server, "it does not say where the order is") : { url, order }
})

/** Reads an order that was placed before. */
export const read = Effect.fn("AcmeOrder.read")(function* ({ post, server }: AcmeAccount.AcmeAccount, url: string) {
  return { url, order: yield* decoded(server, "its order", Documents.Order, yield* post(url)) }
})

/** The wanted order is among the last ones placed. */
const maxRead = 10

/** A refusal or an invalid response counts as no order; an unreachable server is a failure. */
const orNone = <A, R>(reading: Effect.Effect<A, AcmeFailed, R>) =>
  Effect.catchTag(reading, "AcmeFailed", (error) =>
    error.reason === "ca-unavailable" && error.type !== improper ? Effect.fail(error) : Effect.undefined
  )

/**
 * An open order for exactly this name, if the server lists the account's orders (RFC 8555 section 7.1.2.1). A server without such
 * a list returns the same order when it is placed again.
 */
export const find = Effect.fn("AcmeOrder.find")(function* (account: AcmeAccount.AcmeAccount, host: string) {
  const { post, server, url } = account
  const { orders: list } = yield* decoded(server, "its account", Documents.Account, yield* post(url))
  if (list === undefined) return undefined
  const { orders } = yield* decoded(server, "its list of orders", Documents.Orders, yield* post(list))
  for (const address of orders.slice(-maxRead).toReversed()) {
    const found = yield* orNone(read(account, address))
    const { identifiers = [], status } = found?.order ?? {}
    const isOpen = status === "pending" || status === "ready"
    if (isOpen && identifiers.length === 1 && identifiers[0]?.value.toLowerCase() === host) return found
  }
  return undefined
}, orNone)

/** The server's Retry-After, limited so that it cannot delay the agent for longer than one poll. */
const pause = ({ retryAfter }: Pick<Answer, "retryAfter">) =>
  Effect.sleep(`${Math.min(Math.max(retryAfter ?? pollSeconds, 1), 60)} seconds`)

/** The chain as the server gave it, PEM. */
export const fulfil = Effect.fn("AcmeOrder.fulfil")(function* (
  account: AcmeAccount.AcmeAccount,
  placed: Placed,
  host: string,
  key: KeyObject,
  method: Method,
  prove: Prove
) {
  const { post, server, thumbprint } = account
  let progress: Progress = { order: placed.order, authorization: undefined, proved: false, finalized: false }

  const readAuthorization = Effect.fnUntraced(function* (url: string) {
    const answer = yield* post(url)
    const authorization = yield* decoded(server, "its authorization", Documents.Authorization, answer)
    // A wildcard is authorized by the name below which it stands (RFC 8555 section 7.1.3).
    if (authorization.identifier.value.toLowerCase() !== host.replace(/^\*\./u, ""))
      return yield* untrusted(server, `it asks for a proof of ${authorization.identifier.value}, which was not ordered`)
    progress = { ...progress, authorization }
    return answer
  })
  const readOrder = Effect.gen(function* () {
    const answer = yield* post(placed.url)
    progress = { ...progress, order: yield* decoded(server, "its order", Documents.Order, answer) }
    return answer
  })

  /** The chain, or undefined while there is more to do. */
  const once = Effect.gen(function* () {
    const step = stepOf(progress, method)
    switch (step._tag) {
      case "ReadAuthorization":
        return void (yield* readAuthorization(step.url))
      case "Prove":
        yield* prove(`${step.challenge.token}.${thumbprint}`)
        yield* post(step.challenge.url, {})
        progress = { ...progress, proved: true, authorization: undefined }
        return
      case "AwaitAuthorization": {
        const answer = yield* readAuthorization(step.url)
        return stepOf(progress, method)._tag === "AwaitAuthorization" ? yield* pause(answer) : undefined
      }
      case "AwaitOrder": {
        const answer = yield* readOrder
        return stepOf(progress, method)._tag === "AwaitOrder" ? yield* pause(answer) : undefined
      }
      case "Finalize": {
        const csr = CertificateRequest.write(host, key).toString("base64url")
        const answer = yield* post(progress.order.finalize, { csr })
        const order = yield* decoded(server, "its order", Documents.Order, answer)
        progress = { ...progress, order, finalized: true }
        return
      }
      case "Download":
        return (yield* post(step.url)).body
      case "NotOffered":
        return yield* new AcmeFailed({
          reason: "rejected",
          detail: `${server} does not offer ${method}.`,
          type: "notOffered"
        })
      case "Failed":
        return yield* ofProblem(server, step.problem, { status: 403 })
    }
  })

  return yield* once.pipe(
    Effect.repeat({ schedule: Schedule.forever, until: (chain) => chain !== undefined }),
    Effect.map((chain) => chain ?? ""),
    Effect.timeoutOrElse({
      duration: orderBound,
      orElse: () =>
        Effect.fail(
          new AcmeFailed({
            reason: "ca-unavailable",
            detail: `${server} did not decide about ${host} within ${orderBound}; the order stays open.`,
            type: "stillOpen"
          })
        )
    })
  )
}, Effect.scoped)
