/** Whether this agent, or the origin behind it, has the certificate of the host, and by which files that changes. */
import { Effect, type FileSystem } from "effect"
import type { SecureContext } from "node:tls"
import * as CertificateFolder from "../certificate/CertificateFolder.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import type { Settings } from "../settings/Settings.ts"

type Held = "held" | "none" | "unknown"

interface CertificateProbe {
  readonly certificate: Effect.Effect<Held, never, FileSystem.FileSystem>
  readonly files: ReadonlyArray<string>
}

const stateOf = (isHeld: boolean): Held => (isHeld ? "held" : "none")

/** `pair` gives the one with which this agent ends TLS; without it the origin may have the certificate that is ordered here. */
export const of = (
  { certificate, origin }: Settings,
  pair: Effect.Effect<SecureContext | undefined> | undefined
): CertificateProbe => {
  const { terminate } = origin
  if (pair !== undefined && terminate !== undefined)
    return {
      certificate: Effect.map(pair, (context) => stateOf(context !== undefined)),
      files: [terminate.certificate, terminate.key]
    }
  if (certificate === undefined) return { certificate: Effect.succeed("unknown"), files: [] }
  const places = CertificateOptions.placesOf(certificate)
  const served = Effect.map(CertificateFolder.isServed(places), stateOf)
  return { certificate: Effect.orElseSucceed(served, () => "unknown"), files: CertificateFolder.filesOf(places) }
}
