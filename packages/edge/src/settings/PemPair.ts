/** Paths of a PEM certificate chain and its key. */
export interface PemPair {
  readonly certificate: string
  readonly key: string
}
