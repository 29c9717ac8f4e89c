/** A certificate of an agent's own port, for those who trust it alone or prove the agent on the stream. It is made anew at each start. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { generateKeyPairSync } from "node:crypto"

const day = 86_400_000
const validDays = 3_650

export interface SelfSignedCertificate {
  /** DER. */
  readonly certificate: Buffer
  /** PEM. */
  readonly key: string
}

/** `now` in epoch milliseconds. */
export const make = (now: number): SelfSignedCertificate => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const validity = { from: now - day, until: now + validDays * day }
  const certificate = Certificate.mintLeaf("localhost", privateKey, privateKey, ["localhost"], validity)
  return { certificate, key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() }
}
