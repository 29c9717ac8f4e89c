/** Replaces the certificate of a UDP port after a renewal: new connections get the new leaf, and no connection ends. */
import type { Bound } from "@catenet/wire/quic/process/QuicProcess"
import { Effect, FiberSet } from "effect"
import { X509Certificate } from "node:crypto"
import type { Pair, CertificateSource } from "../tls/CertificateSource.ts"

const certificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/gu

/** Peers already have the root, so it is not needed in the chain. */
const isRoot = (pem: string) => {
  const certificate = new X509Certificate(pem)
  return certificate.checkIssued(certificate)
}

/**
 * The chain without the root: with it, the first response to an unvalidated address would need another datagram (decision 0022).
 */
export const current = ({ cert, key }: Pair) => ({
  certificate: (cert.match(certificates) ?? []).filter((pem, index) => index === 0 || !isRoot(pem)).join(""),
  key
})

/** `first` is the certificate with which the port was bound. */
export const follow = Effect.fn("QuicCertificateReload.follow")(function* (
  leaf: CertificateSource,
  bound: Bound,
  first: Pair
) {
  const run = yield* FiberSet.makeRuntime<never>()
  const renew = (pair: Pair) =>
    run(
      bound
        .renew(current(pair))
        .pipe(Effect.catch(({ why }) => Effect.logError("a UDP port keeps its certificate", why)))
    )
  leaf.onReplaced(renew)
  if (leaf.current !== first) renew(leaf.current)
})
