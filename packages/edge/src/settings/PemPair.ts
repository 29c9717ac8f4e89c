/** Paths of a PEM certificate chain and its key. */
export interface PemPair {
  readonly certificate: string
  readonly key: string
}

/** Both halves, or none. */
export const pemPair = (certificate: string | undefined, key: string | undefined): PemPair | undefined =>
  certificate === undefined || key === undefined ? undefined : { certificate, key }
