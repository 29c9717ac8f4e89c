/** Takes a certificate back at its authority (RFC 8555 section 7.6), where the tunnel of its name is gone. Best effort. */
import { Effect } from "effect"
import { calculateJwkThumbprint, exportJWK } from "jose"
import { createPublicKey } from "node:crypto"
import * as AcmeAccount from "./AcmeAccount.ts"
import { AcmeFailed } from "./AcmeFailed.ts"
import * as AcmeTransport from "./AcmeTransport.ts"
import * as Folder from "./CertificateFolder.ts"

/** RFC 5280 section 5.3.1: the name is not in use any more. */
const cessationOfOperation = 5

/**
 * Revokes the certificate that was ordered here last and is in its place, at the account that ordered it. False where there is
 * none, or it was revoked before.
 */
export const revoke = Effect.fn("CertificateRevocation.revoke")(function* (
  places: Folder.Places,
  roots: string | undefined
) {
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
