/** Releases in which something was changed on the way: refused, or the same program as before. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as Hex from "../../src/Hex.ts"
import { native } from "../../src/native.ts"
import * as ReleaseManifest from "../../src/release/ReleaseManifest.ts"

/** How many; CT_MUTATED_RELEASES says another number. */
const most = Number(process.env["CT_MUTATED_RELEASES"] ?? 300)

const seed = Redacted.make(new Uint8Array(32).fill(7))
const pinnedKeys = [Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))]
const content = Buffer.from("the program")
const digest = native.sha256(content)
const asset = "ct-agent-linux-x86_64"
const manifest = Buffer.from(
  JSON.stringify({ assets: { [asset]: Hex.encode(digest) }, created_at: 1, schema: 1, tag: "v1.2.3" })
)
const signature = ReleaseManifest.sign(native, seed, manifest)
const checksumFile = `${Hex.encode(digest)}  ${asset}\n`
const whole = { pinnedKeys, manifest, signature, tag: "v1.2.3", asset, checksumFile }

/** The same numbers in each run. */
const numbers = (start: number) => {
  let state = start
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}

const mutated = (bytes: Uint8Array, next: (below: number) => number) => {
  const copy = Buffer.from(bytes)
  const at = next(copy.length)
  switch (next(5)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << next(8))
      return copy
    case 1:
      return copy.subarray(0, at)
    case 2:
      return Buffer.concat([copy.subarray(0, at), Buffer.from([next(256)]), copy.subarray(at)])
    case 3:
      return Buffer.concat([copy, copy.subarray(at)])
    default:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1 + next(8))])
  }
}

describe("a release that was changed on its way", () => {
  it(`gives no other program, in ${most} ways`, () => {
    assert.deepStrictEqual(ReleaseManifest.expectedDigest(native, whole), Result.succeed(digest))
    let refused = 0
    for (let n = 0; n < most; n++) {
      const next = numbers(n)
      const changed = { ...whole }
      const part = (["manifest", "signature", "checksumFile"] as const)[next(3)] ?? "manifest"
      if (part === "manifest") changed.manifest = mutated(manifest, next)
      else changed[part] = mutated(Buffer.from(whole[part]), next).toString("latin1")
      const judged = ReleaseManifest.expectedDigest(native, changed)
      if (Result.isFailure(judged)) refused++
      else {
        assert.notStrictEqual(part, "manifest", `mutation ${n}`)
        assert.deepStrictEqual(judged.success, digest, `mutation ${n}`)
      }
    }
    assert.isAbove(refused, most * 0.8)
  })

  it("counts for nothing by itself when its signature is right and its key is not", () => {
    for (const keys of [[], ["00".repeat(32)], ["zz"]])
      assert.isTrue(Result.isFailure(ReleaseManifest.expectedDigest(native, { ...whole, pinnedKeys: keys })))
    for (const part of ["manifest", "signature", "checksumFile"] as const)
      assert.isTrue(Result.isFailure(ReleaseManifest.expectedDigest(native, { ...whole, [part]: undefined })), part)
    assert.isTrue(Result.isSuccess(ReleaseManifest.expectedDigest(native, { ...whole, checksumFile: undefined }, true)))
  })
})
