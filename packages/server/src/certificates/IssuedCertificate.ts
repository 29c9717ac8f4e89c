/**
 * Whether a chain shows that an authority gave a certificate for a host name a short while ago. Pure. A chain that an account made
 * by itself would use up the budget of its domain: a known public authority is believed only below a root that programs
 * trust, and one that the operator named by the signatures along the chain.
 */
import { offerSeconds } from "@catenet/domain/certificates/Admission"
import { certificateAuthorities } from "@catenet/domain/certificates/CertificateAuthorities"
import { getCACertificates } from "@catenet/platform/Sockets"
import { Result } from "effect"
import { X509Certificate } from "node:crypto"

const maxCertificates = 10
/** Seconds by which an authority's clock may be ahead. */
const clockTolerance = 3600

const block = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----/g

/** The certificates of a text, in their order; undefined where it has none, too many or one that cannot be read. */
export const parse = (pem: string): ReadonlyArray<X509Certificate> | undefined => {
  const blocks = pem.match(block) ?? []
  if (blocks.length === 0 || blocks.length > maxCertificates) return undefined
  try {
    return blocks.map((each) => new X509Certificate(each))
  } catch {
    return undefined
  }
}

/** The roots that this program trusts, by subject; read at the first use. */
let trusted: ReadonlyMap<string, ReadonlyArray<X509Certificate>> | undefined
const trustedRoots = () => {
  trusted ??= Map.groupBy(
    getCACertificates("default").flatMap((pem) => parse(pem) ?? []),
    ({ subject }) => subject
  )
  return trusted
}

const isPublicAuthority = (ca: string, directoryUrl: string | undefined) =>
  certificateAuthorities.some((known) => known.name === ca && known.directoryUrl === directoryUrl)

const issued = (certificate: X509Certificate, issuer: X509Certificate) =>
  issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

export interface Expected {
  readonly hostname: string
  /** The authority that the host name was assigned, and where it is. */
  readonly ca: string
  readonly directoryUrl: string | undefined
  /** Unix seconds. */
  readonly now: number
}

/** The SHA-256 of the certificate as hex, or why it is not one that was issued for this name now. */
export const check = (
  chain: ReadonlyArray<X509Certificate>,
  { ca, directoryUrl, hostname, now }: Expected,
  roots: () => ReadonlyMap<string, ReadonlyArray<X509Certificate>> = trustedRoots
): Result.Result<string, string> => {
  const [leaf, ...issuers] = chain
  const last = chain.at(-1)
  if (leaf === undefined || last === undefined) return Result.fail("there is no certificate")
  // The certificate that the edge has for the whole zone is none of this name.
  if (leaf.checkHost(hostname, { subject: "never", wildcards: false }) === undefined)
    return Result.fail("it is for another name")
  const from = leaf.validFromDate.getTime() / 1000
  const until = leaf.validToDate.getTime() / 1000
  if (until <= now || from > now + clockTolerance || from < now - offerSeconds)
    return Result.fail("it was not issued within the last two days")
  for (const [at, issuer] of issuers.entries()) {
    const before = chain[at]
    if (before === undefined || !issued(before, issuer)) return Result.fail("its chain does not hold together")
  }
  const isBelowTrusted = (roots().get(last.issuer) ?? []).some((root) => issued(last, root))
  if (!isBelowTrusted && (isPublicAuthority(ca, directoryUrl) || issuers.length === 0))
    return Result.fail("its authority is not trusted")
  return Result.succeed(leaf.fingerprint256.replaceAll(":", "").toLowerCase())
}
