/** ML-KEM-768 of both suites: vectors of Project Wycheproof, implicit rejection, and each suite with the other. */
import * as Hex from "@catenet/crypto/Hex"
import { BadEncapsulationKey, kemLengths } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { bytes, flipped, integer, runs, suites } from "./arbitraries.ts"

interface Vectors {
  readonly decapsulation: ReadonlyArray<Record<"about" | "seed" | "ek_sha256" | "c" | "K", string>>
  readonly encapsulation: ReadonlyArray<Record<"about" | "m" | "ek" | "c_sha256" | "K" | "result", string>>
}

const file = new URL("../vectors/mlkem768.json", import.meta.url)
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors
const valid = vectors.encapsulation.filter(({ result }) => result === "valid")
const invalid = vectors.encapsulation.filter(({ result }) => result === "invalid")

const of = (hex: string) => Result.getOrThrow(Hex.decode(hex))
const digest = (data: Uint8Array) => createHash("sha256").update(data).digest("hex")
const seedOf = (byte: number) => new Uint8Array(kemLengths.seed).fill(byte)

describe.each(Object.entries(suites))("ml-kem-768, %s", (name, { mlkem768 }) => {
  it.each(vectors.decapsulation)(
    "makes the key of a seed and opens a ciphertext: $about",
    ({ K, c, ek_sha256, seed }) => {
      const { decapsulate, publicKey } = mlkem768.keyPair(of(seed))
      assert.strictEqual(digest(publicKey), ek_sha256)
      assert.strictEqual(Hex.encode(decapsulate(of(c))), K)
    }
  )

  it.each(valid)("takes a key of any form: $about", ({ K, c_sha256, ek, m }) => {
    const { ciphertext, sharedSecret } = Result.getOrThrow(mlkem768.encapsulate(of(ek), of(m)))
    // The native suite draws its own m.
    if (name === "native") return assert.deepStrictEqual([ciphertext.length, sharedSecret.length], [1088, 32])
    assert.deepStrictEqual([digest(ciphertext), Hex.encode(sharedSecret)], [c_sha256, K])
  })

  it.each(invalid)("refuses a key that is none: $about", ({ ek, m }) => {
    assert.deepStrictEqual(mlkem768.encapsulate(of(ek), of(m)), Result.fail(new BadEncapsulationKey()))
  })

  it.each(Object.entries(suites))("agrees with the suite %s, and with nothing that was turned", (_, other) => {
    const pair = mlkem768.keyPair(seedOf(1))
    const { ciphertext, sharedSecret } = Result.getOrThrow(
      other.mlkem768.encapsulate(pair.publicKey, new Uint8Array(32).fill(2))
    )
    assert.deepStrictEqual(pair.decapsulate(ciphertext), sharedSecret)
    const wrong = pair.decapsulate(flipped(ciphertext, 77))
    assert.lengthOf(wrong, 32)
    assert.notDeepEqual(wrong, sharedSecret)
    // The same every time: an implicit rejection says nothing by changing.
    assert.deepStrictEqual(pair.decapsulate(flipped(ciphertext, 77)), wrong)
  })
})

it.prop(
  "both suites make the same key of a seed and the same secret of any ciphertext",
  { seed: bytes(64), filling: integer(0, 255) },
  ({ filling, seed }) => {
    const [one, two] = Object.values(suites).map(({ mlkem768 }) => mlkem768.keyPair(seed))
    assert.deepStrictEqual(one?.publicKey, two?.publicKey)
    const ciphertext = new Uint8Array(kemLengths.ciphertext).fill(filling)
    assert.deepStrictEqual(one?.decapsulate(ciphertext), two?.decapsulate(ciphertext))
  },
  runs
)
