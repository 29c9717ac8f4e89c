/**
 * The next step of an order (RFC 8555 section 7.1.6), from the server's state and what was done so far. It is evaluated after
 * each response, so an order begun by another process continues in the same way.
 */
import type { Authorization, Challenge, Order } from "./AcmeDocuments.ts"
import type { Problem } from "./AcmeFailed.ts"

/** How a host name is proved. */
export type Method = "tls-alpn-01" | "dns-01"

export type AcmeOrderStep =
  | { readonly _tag: "ReadAuthorization"; readonly url: string }
  | { readonly _tag: "Prove"; readonly challenge: Challenge & { readonly token: string } }
  | { readonly _tag: "AwaitAuthorization"; readonly url: string }
  | { readonly _tag: "AwaitOrder" }
  | { readonly _tag: "Finalize" }
  | { readonly _tag: "Download"; readonly url: string }
  /** The server offers no challenge of this method. */
  | { readonly _tag: "NotOffered" }
  | { readonly _tag: "Failed"; readonly problem: Problem }

/** The known state of an order. */
export interface Progress {
  readonly order: Order
  /** The order as last read; undefined at first. */
  readonly authorization: Authorization | undefined
  readonly proved: boolean
  readonly finalized: boolean
}

const offered = ({ challenges }: Authorization, method: Method): AcmeOrderStep => {
  const challenge = challenges.find(({ token, type }) => type === method && token !== undefined)
  return challenge?.token === undefined
    ? { _tag: "NotOffered" }
    : { _tag: "Prove", challenge: { ...challenge, token: challenge.token } }
}

const failed = (problem: Problem | undefined, instead: string): AcmeOrderStep => ({
  _tag: "Failed",
  problem: problem ?? { detail: instead }
})

const authorize = ({ authorization, order, proved }: Progress, method: Method): AcmeOrderStep => {
  const [url] = order.authorizations
  if (authorization === undefined) return { _tag: "ReadAuthorization", url }
  const { challenges, status } = authorization
  switch (status) {
    case "pending":
      return proved ? { _tag: "AwaitAuthorization", url } : offered(authorization, method)
    case "valid":
      return { _tag: "AwaitOrder" }
    default:
      return failed(challenges.find(({ error }) => error !== undefined)?.error, `the authorization is ${status}`)
  }
}

/** The next step of an order that is validated by this method. */
export const stepOf = (progress: Progress, method: Method): AcmeOrderStep => {
  const { certificate, error, status } = progress.order
  switch (status) {
    case "pending":
      return authorize(progress, method)
    case "ready":
      return progress.finalized ? { _tag: "AwaitOrder" } : { _tag: "Finalize" }
    case "processing":
      return { _tag: "AwaitOrder" }
    case "valid":
      return certificate === undefined
        ? failed(undefined, "the order is valid, and there is no certificate")
        : { _tag: "Download", url: certificate }
    case "invalid":
      return progress.authorization === undefined && error === undefined
        ? { _tag: "ReadAuthorization", url: progress.order.authorizations[0] }
        : failed(
            error ?? progress.authorization?.challenges.find(({ error }) => error !== undefined)?.error,
            "the order is invalid"
          )
  }
}
