/**
 * Ed25519 input that honest signers never make, built from the arithmetic of the curve: keys and commitments with a
 * torsion part, encodings that are not canonical, and scalars at and above the group order. Each comes with the verdict
 * that the cofactorless equation gives, reasoned from how it was made and not from any verifier.
 */
import { ed25519 } from "@noble/curves/ed25519.js"
import { sha512 } from "@noble/hashes/sha2.js"

const { Point } = ed25519
const { BASE, Fn, Fp } = Point

type Point = InstanceType<typeof Point>

export const order = Fn.ORDER
export const prime = Fp.ORDER

export const toLittleEndian = (value: bigint, length = 32): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))

const fromLittleEndian = (bytes: Uint8Array): bigint =>
  BigInt(
    `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
      .reverse()
      .join("")}`
  )

export const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)))

/** A point of order eight: any point whose prime-order part is taken away and that is not of lower order. */
const generator = (() => {
  for (let y = 2n; ; y++) {
    try {
      const point = Point.fromBytes(toLittleEndian(y))
      const torsion = point.multiplyUnsafe(order - 1n).add(point)
      if (!torsion.double().double().is0()) return torsion
    } catch {
      continue
    }
  }
})()

/** The eight points whose order divides eight; index i is i times a generator. */
export const torsion: ReadonlyArray<Point> = Array.from({ length: 8 }, (_, i) =>
  i === 0 ? Point.ZERO : generator.multiplyUnsafe(BigInt(i))
)

const encode = (y: bigint, negative: boolean): Uint8Array => toLittleEndian(y | (negative ? 1n << 255n : 0n))

/** Every encoding of a point, the canonical one first: y may be one prime higher, a zero x has two signs. */
export const encodings = (point: Point): ReadonlyArray<Uint8Array> => {
  const { x, y } = point.toAffine()
  const signs = x === 0n ? [false, true] : [(x & 1n) === 1n]
  const heights = y + prime < 1n << 255n ? [y, y + prime] : [y]
  return heights.flatMap((height) => signs.map((sign) => encode(height, sign)))
}

export interface Case {
  readonly name: string
  readonly publicKey: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
  readonly valid: boolean
  readonly strict: boolean
}

const scalars = [0n, 0x1234567890abcdef1234567890abcdefn]

/** One signature for a·B + torsion[i] with commitment r·B + torsion[j]. */
const sign = (
  a: bigint,
  i: number,
  r: bigint,
  j: number,
  key: Uint8Array,
  commitment: Uint8Array,
  text: Uint8Array
) => {
  const k = fromLittleEndian(sha512(concat(commitment, key, text))) % order
  const s = (r + k * a) % order
  // S·B = R + k·A holds for the prime-order parts by construction; what remains is the torsion.
  return { s, holds: (BigInt(j) + k * BigInt(i)) % 8n === 0n }
}

/** All combinations of torsion, zero and other prime-order parts, encodings, and S as it is and one order higher. */
export const cases = (messages: number): ReadonlyArray<Case> => {
  const found: Array<Case> = []
  for (const a of scalars)
    for (const r of scalars)
      for (const [i, torsionA] of torsion.entries())
        for (const [j, torsionR] of torsion.entries()) {
          const A = BASE.multiplyUnsafe(a).add(torsionA)
          const R = BASE.multiplyUnsafe(r).add(torsionR)
          for (const [keyForm, publicKey] of encodings(A).entries())
            for (const [commitmentForm, commitment] of encodings(R).entries())
              for (let m = 0; m < messages; m++) {
                const message = Uint8Array.of(m, i, j)
                const { s, holds } = sign(a, i, r, j, publicKey, commitment, message)
                for (const high of [false, true]) {
                  const valid = holds && commitmentForm === 0 && !high
                  found.push({
                    name: `a=${a} r=${r} A+T${i} R+T${j} forms ${keyForm} ${commitmentForm} message ${m}${high ? " S+L" : ""}`,
                    publicKey,
                    message,
                    signature: concat(commitment, toLittleEndian(high ? s + order : s)),
                    valid,
                    strict: valid && a !== 0n && r !== 0n
                  })
                }
              }
        }
  return found
}
