/**
 * The certificates that the control plane orders for the platform's own names and for edge-terminated (gelb) hosts, as edges fetch
 * them: sealed for the edge that asks, a few at a time, in the order in which they changed.
 */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { TicketKeyRequest } from "./TicketKeys.ts"

/** Most certificates in one answer, and most characters of a chain: together they fit into one message. */
export const certificatesInAnswer = 3
export const charactersOfChain = 16_384

const Pem = Schema.String.check(Schema.isMaxLength(charactersOfChain))
const SecretPem = Schema.RedactedFromValue(Pem, { label: "private key" })

/** A chain and its key, PEM. */
export const SealedPair = Schema.Struct({ chain: Pem, key: SecretPem })
export type SealedPair = typeof SealedPair.Type

/** What the answer holds when it is opened. `challenge` is what an authority is shown that validates the host now (RFC 8737). */
export const HostCertificates = Schema.Array(
  Schema.Struct({
    host: Schema.String,
    certificate: Schema.NullOr(SealedPair),
    challenge: Schema.NullOr(SealedPair)
  })
)
export type HostCertificates = typeof HostCertificates.Type

/** An edge asks by the key that it is pinned to, and says up to which revision it has everything. */
export class CertificatesRequest extends Schema.Class<CertificatesRequest>("CertificatesRequest")({
  ...TicketKeyRequest.fields,
  since: Count
}) {}

/** `sealed` is the second message of a Noise handshake of the pattern NN; left out if nothing has changed since. */
export class SealedCertificates extends Schema.Class<SealedCertificates>("SealedCertificates")({
  revision: Count,
  sealed: Schema.optionalKey(
    Schema.String.check(
      pattern(/^[0-9a-f]{96,131070}$/u, "96 to 131070 lower-case hex digits", /^(?:[0-9a-f]{8}){12}$/u)
    )
  )
}) {}
