/** A certificate chain with its key that can be replaced while servers use it. Both PEM. */
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

  /** All users of the pair take the new one for connections from now on. */
  replace(pair: Pair) {
    this.#pair = pair
    for (const listener of this.#listeners) listener(pair)
  }

  onReplaced(listener: (pair: Pair) => void) {
    this.#listeners.add(listener)
  }
}
