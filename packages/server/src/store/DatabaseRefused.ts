/** The database answers and refuses the connection for a cause that waiting does not cure. */
import { Data, Predicate } from "effect"
import { innermost } from "./DatabaseAvailability.ts"

/** The message is the sentence for the operator. */
export class DatabaseRefused extends Data.TaggedError("DatabaseRefused")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

/** What OpenSSL says of a certificate chain that it does not trust, as Node names it. */
const untrusted: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])

const sentenceOf = (code: string, reported: string): string | undefined => {
  if (untrusted.has(code))
    return `The certificate of the database is not trusted (${reported}); name its root by sslrootcert, or correct the server's certificate.`
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `The certificate of the database is for another name (${reported}); take the name that it has as the host of CT_CP_DATABASE_URL, or sslmode=verify-ca.`
  if (reported === "The server does not support TLS")
    return "The database speaks no TLS and sslmode asks for it; switch on ssl at the server, or take sslmode=prefer."
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_OSSL_"))
    return `The database and this program cannot agree on TLS (${reported}); see the log of the server.`
  if (code === "28P01" || code === "28000" || reported.startsWith("The server requested password"))
    return `The database does not let this role in (${reported}); correct name and password in CT_CP_DATABASE_URL, or pg_hba.conf at the server.`
  if (code === "3D000")
    return `There is no such database (${reported}); make it by createdb, or correct the name in CT_CP_DATABASE_URL.`
  return undefined
}

const isProtocol = (error: unknown): boolean =>
  Predicate.hasProperty(error, "reason") &&
  Predicate.hasProperty(error.reason, "message") &&
  /^PgConnection: (?:Invalid SSLRequest response|Failed to parse)/u.test(String(error.reason.message))

/** The refusal behind the error of a connection; nothing where waiting may help, or no connection is at fault. */
export const of = (error: unknown): DatabaseRefused | undefined => {
  const cause = innermost(error)
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  const reported = cause instanceof Error ? cause.message : String(cause)
  const why =
    sentenceOf(code, reported) ??
    (isProtocol(error) ? "What answers at CT_CP_DATABASE_URL is no PostgreSQL; correct its host and port." : undefined)
  return why === undefined ? undefined : new DatabaseRefused({ why })
}
