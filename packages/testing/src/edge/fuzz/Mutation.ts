/** Mutations of valid bytes, from a seed: what a fuzz run did can be done again. */

export interface Random {
  /** A whole number below `limit`. */
  readonly below: (limit: number) => number
  readonly bytes: (length: number) => Buffer
}

export const random = (seed: number): Random => {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state
  }
  const below = (limit: number) => (limit <= 0 ? 0 : next() % limit)
  return { below, bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))) }
}

type Mutate = (bytes: Buffer, random: Random, others: ReadonlyArray<Buffer>) => Buffer

const at = (bytes: Buffer, { below }: Random) => below(bytes.length + 1)

const mutations: ReadonlyArray<Mutate> = [
  (bytes) => bytes,
  (bytes, { below }) => {
    const copy = Buffer.from(bytes)
    if (copy.length > 0) copy[below(copy.length)] = below(256)
    return copy
  },
  (bytes, random) => bytes.subarray(0, at(bytes, random)),
  (bytes, random) => bytes.subarray(at(bytes, random)),
  (bytes, random) => {
    const cut = at(bytes, random)
    return Buffer.concat([bytes.subarray(0, cut), random.bytes(1 + random.below(40)), bytes.subarray(cut)])
  },
  (bytes, random) => {
    const [a, b] = [at(bytes, random), at(bytes, random)]
    return Buffer.concat([bytes, bytes.subarray(Math.min(a, b), Math.max(a, b))])
  },
  // Length fields: all zeros, all ones, off by one.
  (bytes, { below }) => {
    const copy = Buffer.from(bytes)
    const start = below(copy.length)
    const kind = below(3)
    for (let index = start; index < Math.min(start + 1 + below(4), copy.length); index++) {
      copy[index] = kind === 0 ? 0 : kind === 1 ? 0xff : ((copy[index] ?? 0) + 1) & 0xff
    }
    return copy
  },
  (bytes, random, others) => {
    const other = others[random.below(others.length)] ?? bytes
    return Buffer.concat([bytes.subarray(0, at(bytes, random)), other.subarray(at(other, random))])
  }
]

/** One to three mutations of one of the samples. */
export const mutate = (samples: ReadonlyArray<Buffer>, random: Random): Buffer => {
  let bytes = samples[random.below(samples.length)] ?? Buffer.alloc(0)
  for (let count = 1 + random.below(3); count > 0; count--) {
    const mutation = mutations[random.below(mutations.length)]
    if (mutation !== undefined) bytes = mutation(bytes, random, samples)
  }
  return bytes
}
