/** A certificate chain and its key, PEM, which can be replaced while servers use them. */
export interface Pair {
  readonly cert: string
  readonly key: string
}

export class CertificateSource {
  readonly #listeners = new Set<(pair: Pair) => void>()
  #pair: Pair

  constructor(pair: Pair) {
    this.#pair = pair
  }

  get current(): Pair {
    return this.#pair
  }

  /** New connections use the new pair. */
  replace(pair: Pair) {
    this.#pair = pair
    for (const listener of this.#listeners) listener(pair)
  }

  onReplaced(listener: (pair: Pair) => void) {
    this.#listeners.add(listener)
  }
}
