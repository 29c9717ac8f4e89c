/** ML-KEM-768 of both suites: the sets of NIST's ACVP and of Project Wycheproof, and each suite with the other. */
import * as Hex from "@catenet/crypto/Hex"
import { BadEncapsulationKey, kemLengths } from "@catenet/crypto/Suite"
import { assert, describe, it } from "@effect/vitest"
import { ml_kem768 as noble } from "@noble/post-quantum/ml-kem.js"
import { Result } from "effect"
import { createHash, createPrivateKey, decapsulate as byRuntime } from "node:crypto"
import { readFileSync } from "node:fs"
import { bytes, flipped, integer, runs, suites } from "./arbitraries.ts"

interface Vectors {
  readonly decapsulation: ReadonlyArray<Record<"about" | "seed" | "ek_sha256" | "c" | "K", string>>
  readonly encapsulation: ReadonlyArray<Record<"about" | "m" | "ek" | "c_sha256" | "K" | "result", string>>
}

interface Acvp {
  readonly keyGeneration: ReadonlyArray<Record<"seed" | "ek_sha256" | "dk_sha256", string>>
  readonly encapsulation: ReadonlyArray<Record<"ek" | "m" | "c_sha256" | "K", string>>
  readonly decapsulation: {
    readonly dk: string
    readonly tests: ReadonlyArray<Record<"about" | "c" | "K", string>>
  }
}

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../vectors/${file}`, import.meta.url), "utf8"))
const vectors = read("mlkem768.json") as Vectors
const acvp = read("mlkem768-acvp.json") as Acvp
const valid = vectors.encapsulation.filter(({ result }) => result === "valid")
const invalid = vectors.encapsulation.filter(({ result }) => result === "invalid")

const of = (hex: string) => Result.getOrThrow(Hex.decode(hex))
const digest = (data: Uint8Array) => createHash("sha256").update(data).digest("hex")
const seedOf = (byte: number) => new Uint8Array(kemLengths.seed).fill(byte)

/** Of an expanded key, which our suites never take: the beginning of its PKCS #8 form (RFC 9935) up to the key. */
const expandedKeyHeader = of("30820978020100300b06096086480165030404020482096404820960")

/** What each suite decapsulates by. */
const primitives: Readonly<Record<string, (dk: Uint8Array, c: Uint8Array) => Uint8Array>> = {
  native: (dk, c) => {
    const key = Buffer.concat([expandedKeyHeader, dk])
    return new Uint8Array(byRuntime(createPrivateKey({ key, format: "der", type: "pkcs8" }), c))
  },
  portable: (dk, c) => noble.decapsulate(c, dk)
}

describe.each(Object.entries(suites))("ml-kem-768, %s, by the ACVP sets", (name, { mlkem768 }) => {
  it("are there whole: 25 keys, 25 encapsulations and 10 decapsulations of both kinds", () => {
    const { decapsulation, encapsulation, keyGeneration } = acvp
    assert.deepStrictEqual([keyGeneration.length, encapsulation.length, decapsulation.tests.length], [25, 25, 10])
    const kinds = new Set(decapsulation.tests.map(({ about }) => about))
    assert.deepStrictEqual(kinds, new Set(["modify ciphertext", "no modification"]))
  })

  it("the key of each seed is the one", () => {
    for (const { dk_sha256, ek_sha256, seed } of acvp.keyGeneration) {
      assert.strictEqual(digest(mlkem768.keyPair(of(seed)).publicKey), ek_sha256)
      assert.strictEqual(digest(noble.keygen(of(seed)).secretKey), dk_sha256)
    }
  })

  it("each encapsulation gives the ciphertext and the secret, or one that the other side opens", () => {
    for (const { K, c_sha256, ek, m } of acvp.encapsulation) {
      const { ciphertext, sharedSecret } = Result.getOrThrow(mlkem768.encapsulate(of(ek), of(m)))
      // The native suite draws its own m.
      if (name === "native") assert.deepStrictEqual([ciphertext.length, sharedSecret.length], [1088, 32])
      else assert.deepStrictEqual([digest(ciphertext), Hex.encode(sharedSecret)], [c_sha256, K])
    }
  })

  it("each ciphertext, turned or not, opens to its secret", () => {
    const { dk, tests } = acvp.decapsulation
    for (const { K, c } of tests) assert.strictEqual(Hex.encode(primitives[name]!(of(dk), of(c))), K)
  })
})

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
