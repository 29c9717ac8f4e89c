/**
 * Why a CA issued no certificate: a sentence with what happened and who can fix it, and the reason code with which the control
 * plane may choose another CA.
 */
import type { IssuanceFailure } from "@catenet/domain/certificates/CertificateStanding"
import { clause } from "@catenet/domain/values/Sentence"
import { Data } from "effect"

export type Reason = typeof IssuanceFailure.Type.reason

export class AcmeFailed extends Data.TaggedError("AcmeFailed")<{
  readonly reason: Reason
  readonly detail: string
  /** Last part of the problem's type, if the server sent one. */
  readonly type?: string
  /** Seconds to wait, if the server sent Retry-After. */
  readonly retryAfter?: number
}> {
  override get message() {
    return this.detail
  }
}

const namespace = "urn:ietf:params:acme:error:"

/** The used parts of a problem document (RFC 7807, RFC 8555 section 6.7). */
export interface Problem {
  readonly type?: string
  readonly detail?: string
  readonly subproblems?: ReadonlyArray<{ readonly type?: string; readonly detail?: string }>
}

const remedies: ReadonlyMap<string, readonly [reason: Reason, remedy: string]> = new Map([
  ["accountDoesNotExist", ["rejected", "a new account is made at the next attempt"]],
  ["badCSR", ["rejected", "update this agent"]],
  ["badNonce", ["ca-unavailable", "it accepts none of its own nonces; try again later"]],
  ["caa", ["caa", "CAA records of the domain forbid it; ask your DNS admin to allow this authority"]],
  [
    "connection",
    ["connection", "it could not reach the host name; check that the tunnel is up and the name leads to the edge"]
  ],
  ["dns", ["dns", "it could not look the host name up; check its DNS records"]],
  ["externalAccountRequired", ["rejected", "the operator of the control plane must set its external account binding"]],
  [
    "incorrectResponse",
    ["connection", "something else answered for the host name; check that the name leads to the edge"]
  ],
  ["invalidContact", ["rejected", "update this agent"]],
  ["orderNotReady", ["ca-unavailable", "try again later"]],
  ["rateLimited", ["rate-limited", "its limit is reached; wait, or let the control plane choose another authority"]],
  ["rejectedIdentifier", ["rejected", "it issues no certificate for this name"]],
  ["serverInternal", ["ca-unavailable", "the authority has a fault; try again later"]],
  ["tls", ["connection", "it could not speak TLS with the host name; check that the tunnel is up"]],
  [
    "unauthorized",
    ["connection", "it did not accept the proof of the host name; check that the name leads to the edge"]
  ],
  ["unsupportedIdentifier", ["rejected", "it issues no certificate for such a name"]],
  ["userActionRequired", ["rejected", "the operator must agree to the authority's new terms"]]
])

/** The server's text as one line without control characters or broken surrogates, limited for the log. */
const quoted = (text: string) => {
  const line = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .replace(/\.+$/, "")
  return (line.length > 300 ? `${line.slice(0, 300)}...` : line).toWellFormed()
}

const typeOf = ({ subproblems = [], type = "" }: Problem) => {
  const own = type.startsWith(namespace) ? type.slice(namespace.length) : type
  // "compound" means that the reasons are in the subproblems.
  const [below] = subproblems
  return own === "compound" && below?.type?.startsWith(namespace) === true ? below.type.slice(namespace.length) : own
}

/** The failure that a server describes. `status` is that of its answer. */
export const ofProblem = (
  server: string,
  problem: Problem,
  answer: { readonly status: number; readonly retryAfter?: number | undefined }
): AcmeFailed => {
  const type = typeOf(problem)
  const usual = answer.status >= 500 ? "ca-unavailable" : answer.status === 429 ? "rate-limited" : "rejected"
  const [reason, remedy] = remedies.get(type) ?? [usual as Reason, "see what it said"]
  const details = quoted(
    [problem.detail, ...(problem.subproblems ?? []).map(({ detail }) => detail)].filter(Boolean).join("; ")
  )
  const text = details === "" ? `status ${answer.status}` : `"${details}"`
  return new AcmeFailed({
    reason,
    detail: `${server} refused (${type === "" ? `status ${answer.status}` : quoted(type)}): ${text}; ${clause(remedy)}.`,
    ...(type === "" ? {} : { type }),
    ...(answer.retryAfter === undefined ? {} : { retryAfter: answer.retryAfter })
  })
}

/** The server cannot be reached, or not in time. */
export const unreachable = (server: string, why: string) =>
  new AcmeFailed({ reason: "ca-unavailable", detail: `${server} cannot be reached: ${quoted(why)}; try again later.` })

/** The server's own certificate is of a root that this agent does not trust. */
export const unknownIssuer = (server: string, why: string) =>
  new AcmeFailed({
    reason: "ca-unavailable",
    detail: `${server} cannot be trusted: ${quoted(why)}; let CT_ACME_CA_FILE name the root certificate that it is trusted by.`
  })

/** The type of a failure caused by an invalid ACME response. */
export const improper = "improper"

/** Nothing of such an answer is used. */
export const untrusted = (server: string, what: string, type: string = improper) =>
  new AcmeFailed({ reason: "ca-unavailable", detail: `${server} is no proper ACME server: ${quoted(what)}.`, type })
