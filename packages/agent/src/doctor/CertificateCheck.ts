/** Whether a certificate is good for the visitors of a host: its names and its time. Who signed it is the visitors' question. Pure. */
import { Result } from "effect"
import type { X509Certificate } from "node:crypto"

const dayMillis = 86_400_000
/** A certificate that is to be renewed is renewed before so little is left. */
const shortDays = 14

/** What is good about it, or what is wrong; both continue the certificate's place. `now` is Unix milliseconds. */
export const judge = (certificate: X509Certificate, host: string, now: number): Result.Result<string, string> => {
  const { subjectAltName, validFrom, validFromDate, validTo, validToDate } = certificate
  if (certificate.checkHost(host, { subject: "never" }) === undefined) {
    const names = subjectAltName?.replaceAll("DNS:", "") ?? "no name at all"
    return Result.fail(`is for ${names}, not for ${host}; browsers refuse it`)
  }
  if (validFromDate.getTime() > now) return Result.fail(`is not valid before ${validFrom}; check the clocks`)
  const left = Math.floor((validToDate.getTime() - now) / dayMillis)
  if (left < 0) return Result.fail(`ended at ${validTo}; renew it`)
  return Result.succeed(
    left < shortDays ? `is valid until ${validTo}, ${left} days from now; renew it soon` : `is valid until ${validTo}`
  )
}
