/** When the CA suggests renewal (RFC 9773). If it cannot be asked, there is no suggestion. */
import { certificateId } from "@catenet/crypto/x509/CertificateId"
import { DateTime, Effect, Option } from "effect"
import { createHash, type X509Certificate } from "node:crypto"
import { decoded } from "./AcmeAccount.ts"
import { Directory, RenewalInfo } from "./AcmeDocuments.ts"
import * as AcmeTransport from "./AcmeTransport.ts"
import * as RenewalSchedule from "./RenewalSchedule.ts"

/** The certificate's ARI identifier; undefined if it does not name its issuer. */
export const idOf = (leaf: X509Certificate) => Option.getOrUndefined(certificateId(leaf.raw))

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

/** Unix milliseconds. `directory` is the issuing CA's, if known. */
export const dueAt = Effect.fn("AcmeRenewalInfo.dueAt")(function* (
  leaf: X509Certificate,
  directory: string | undefined,
  roots: string | undefined
) {
  const window = directory === undefined ? undefined : yield* suggested(leaf, directory, roots)
  const lifetime = { notBefore: leaf.validFromDate.getTime(), notAfter: leaf.validToDate.getTime() }
  return RenewalSchedule.dueAt(lifetime, window, shareOf(leaf))
})

/** The CA's clock in Unix milliseconds; undefined if it cannot be asked. */
export const dateOf = Effect.fn("AcmeRenewalInfo.dateOf")(function* (directory: string, roots: string | undefined) {
  const { call } = AcmeTransport.make(directory, roots)
  return yield* call("GET", directory).pipe(
    Effect.map(({ date }) => date),
    Effect.orElseSucceed(() => undefined)
  )
})
