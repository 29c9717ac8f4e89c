/** Checks that the CA issued what was ordered: for this key, name and time, followed by its issuers in order. */
import { Result } from "effect"
import { type KeyObject, X509Certificate } from "node:crypto"

export interface Ordered {
  readonly host: string
  readonly key: KeyObject
  /** Unix milliseconds. */
  readonly now: number
}

export interface Checked {
  readonly leaf: X509Certificate
  /** The chain as PEM text. */
  readonly pem: string
}

const maxCertificates = 10
/** Milliseconds of clock difference that are tolerated: a certificate may start this much in the future. */
export const clockTolerance = 3_600_000

const block = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----/g

const parse = (text: string) => {
  try {
    return (text.match(block) ?? []).map((pem) => new X509Certificate(pem))
  } catch {
    return []
  }
}

/** The chain, or what is wrong with it. */
export const check = (text: string, { host, key, now }: Ordered): Result.Result<Checked, string> => {
  const chain = parse(text)
  const [leaf] = chain
  if (leaf === undefined || chain.length > maxCertificates) return Result.fail("it gave no chain of certificates")
  if (!leaf.checkPrivateKey(key)) return Result.fail("it gave a certificate for another key")
  if (leaf.checkHost(host, { subject: "never" }) === undefined)
    return Result.fail(`it gave a certificate for another name than ${host}`)
  if (leaf.validToDate.getTime() <= now || leaf.validFromDate.getTime() > now + clockTolerance)
    return Result.fail(`it gave a certificate for another time, from ${leaf.validFrom} to ${leaf.validTo}`)
  for (const [at, issuer] of chain.slice(1).entries()) {
    const issued = chain[at]
    if (issued === undefined || !issued.checkIssued(issuer) || !issued.verify(issuer.publicKey))
      return Result.fail("it gave a chain in which one certificate did not issue the one before it")
  }
  return Result.succeed({ leaf, pem: chain.map((certificate) => certificate.toString()).join("") })
}
