/** The certificate authorities that admission knows, and how many certificates a week each may give to one domain. */

/** `weeklyBudget` counts certificates per registered domain in any seven days; 0 means that it is never offered. */
export interface CertificateAuthority {
  readonly name: string
  readonly directoryUrl: string
  readonly requiresEab: boolean
  readonly weeklyBudget: number
}

/** In order of preference. Authorities with a budget of 0 are listed so that older assignments still resolve. */
export const certificateAuthorities: ReadonlyArray<CertificateAuthority> = [
  {
    name: "letsencrypt",
    directoryUrl: "https://acme-v02.api.letsencrypt.org/directory",
    requiresEab: false,
    weeklyBudget: 40
  },
  { name: "zerossl", directoryUrl: "https://acme.zerossl.com/v2/DV90", requiresEab: true, weeklyBudget: 200 },
  {
    name: "google-trust-services",
    directoryUrl: "https://dv.acme-v02.api.pki.goog/directory",
    requiresEab: true,
    weeklyBudget: 40
  },
  { name: "ssl.com", directoryUrl: "https://acme.ssl.com/sslcom-dv/directory", requiresEab: true, weeklyBudget: 0 },
  {
    name: "letsencrypt-staging",
    directoryUrl: "https://acme-staging-v02.api.letsencrypt.org/directory",
    requiresEab: false,
    weeklyBudget: 0
  }
]

/**
 * The authorities that may be offered: those with a budget, and with an external account binding where one is needed.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { offerable } from "@catenet/domain/certificates/CertificateAuthorities"
 *
 * assert.deepEqual(offerable(new Set()).map((ca) => ca.name), ["letsencrypt"])
 * assert.deepEqual(offerable(new Set(["zerossl"])).map((ca) => ca.name), ["letsencrypt", "zerossl"])
 * ```
 */
export const offerable = (
  withEab: ReadonlySet<string>,
  known: ReadonlyArray<CertificateAuthority> = certificateAuthorities
): ReadonlyArray<CertificateAuthority> =>
  known.filter((ca) => ca.weeklyBudget > 0 && (!ca.requiresEab || withEab.has(ca.name)))
