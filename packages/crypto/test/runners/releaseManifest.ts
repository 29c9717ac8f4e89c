import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as Asset from "../../src/release/Asset.ts"
import { bytes, type Runners } from "./runner.ts"

export const releaseManifest: Runners = {
  release: ({ input, expect }, suite) => {
    const judged = ReleaseManifest.judge(suite, {
      pinnedKeys: input.pinned_keys,
      manifest: input.manifest === null ? undefined : Bytes.fromText(input.manifest),
      signature: input.signature_file ?? undefined,
      tag: input.tag,
      asset: input.asset,
      content: Bytes.fromText(input.binary_text),
      checksumFile: input.sha256_file ?? undefined
    })
    const seen = Result.match(judged, {
      onSuccess: (outcome): unknown => ({ outcome }),
      onFailure: ({ why }) => ({ outcome: "error", why })
    })
    assert.deepStrictEqual(seen, expect)
  },
  key: ({ expect }, suite) => assert.isTrue(suite.ed25519.isPublicKey(bytes(expect.public_key))),
  "sha256-file": ({ input, expect }) => {
    const found = ReleaseManifest.digestOf(input.text, input.asset)
    assert.strictEqual(Result.isSuccess(found) ? Hex.encode(found.success) : undefined, expect.digest)
    assert.strictEqual(Result.isFailure(found), expect.error ?? false)
  },
  "version-compare": ({ expect }) => {
    for (const [offered, running] of expect.newer) assert.isTrue(Asset.isNewer(offered, running))
    for (const [offered, running] of expect.not_newer) assert.isFalse(Asset.isNewer(offered, running))
  }
}
