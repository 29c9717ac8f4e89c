/** A UDP port goes on with the leaf in force: those that connect after a renewal get the new one, and no connection ends. */
import type { Bound } from "@catenet/wire/quic/process/QuicProcess"
import { Effect, FiberSet } from "effect"
import { X509Certificate } from "node:crypto"
import type { Pair, CertificateSource } from "../tls/CertificateSource.ts"

const certificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/gu

/** Peers have the root that they trust, and no use for it in the chain. */
const isRoot = (pem: string) => {
  const certificate = new X509Certificate(pem)
  return certificate.checkIssued(certificate)
}

/**
 * What the port shows: with the root in the chain, the first answer to a peer that has not proved its address would be a datagram more
 * (decision 0022).
 */
export const current = ({ cert, key }: Pair) => ({
  certificate: (cert.match(certificates) ?? []).filter((pem, index) => index === 0 || !isRoot(pem)).join(""),
  key
})

/** `first` is what the port was bound with. */
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
