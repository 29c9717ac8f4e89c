/** Makes the proof of a host name visible to an authority until the scope closes, by either method. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { Clock, Effect } from "effect"
import { createHash } from "node:crypto"
import { AcmeFailed } from "./AcmeFailed.ts"
import type { Prove } from "./AcmeOrder.ts"
import type { Method } from "./AcmeOrderStep.ts"
import { newKey, pemOf } from "./CertificateFolder.ts"
import type { CertificateQueueClient, Asked } from "./CertificateQueueClient.ts"
import * as Challenges from "./Challenges.ts"

const day = 86_400_000

/** The serving agent of this state folder shows a certificate with the proof. */
const byTls =
  ({ hostname }: Asked, stateDir: string): Prove =>
  (keyAuthorization) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const key = newKey()
      const validity = { from: now - day, until: now + 7 * day }
      const der = Certificate.mintChallenge(hostname, key, keyAuthorization, validity)
      yield* Challenges.offer(stateDir, hostname, { certificate: Certificate.pem(der), key: pemOf(key) })
    })

/** The control plane publishes the proof, where it has a DNS server to publish in. */
const byDns =
  (asked: Asked, { clear, publish }: CertificateQueueClient["Service"]): Prove =>
  (keyAuthorization) =>
    Effect.gen(function* () {
      const value = createHash("sha256").update(keyAuthorization).digest("base64url")
      yield* Effect.addFinalizer(() => clear(asked))
      if ((yield* publish(asked, value)) === "no broker")
        return yield* new AcmeFailed({
          reason: "dns",
          detail: `The control plane publishes no proof of ${asked.hostname} in DNS.`,
          type: notAvailable
        })
    })

/** The type of a failure that says that a method cannot be tried at all. */
export const notAvailable = "notOffered"

export const fulfill = (
  method: Method,
  asked: Asked,
  stateDir: string,
  admission: CertificateQueueClient["Service"]
): Prove => (method === "tls-alpn-01" ? byTls(asked, stateDir) : byDns(asked, admission))
