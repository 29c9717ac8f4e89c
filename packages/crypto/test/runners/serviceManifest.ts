import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as ServiceEnvironment from "../../src/manifest/ServiceEnvironment.ts"
import * as CompositionManifest from "../records/CompositionManifest.ts"
import { bytes, type Runners, sameHex, secret } from "./runner.ts"

const asNumbers = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === "bigint" ? Number(each) : each)))

export const serviceManifest: Runners = {
  "service-manifest": ({ input, expect }, suite) => {
    const read = Result.getOrThrow(ServiceManifest.json.fromJson({ ...input.manifest, signature: expect.signature }))
    sameHex(ServiceManifest.preimage(read), expect.signed_bytes)
    const signed = ServiceManifest.sign(suite, secret(input.publisher_seed), read)
    assert.deepStrictEqual(signed, read)
    assert.strictEqual(ServiceManifest.verify(suite, read, 1500), expect.valid_at_1500)
    assert.strictEqual(ServiceManifest.verify(suite, read, 2000), expect.valid_at_2000)
    const { signature: _, ...written }: any = asNumbers(ServiceManifest.json.toJson(read))
    assert.deepStrictEqual(written, input.manifest)
    assert.deepStrictEqual(ServiceManifest.json.parse(ServiceManifest.json.write(read)), Result.succeed(read))
  },
  "environment-parse": ({ input, expect }) => {
    const read = Result.getOrThrow(ServiceEnvironment.json.parse(input.json))
    assert.deepStrictEqual(asNumbers(ServiceEnvironment.json.toJson(read)), expect.environment)
  },
  "composition-manifest": ({ input, expect }, suite) => {
    const { publisher_seed: seed, ...fields } = input
    const publisher_pubkey = expect.signed_bytes.slice(64, 128)
    const read = Result.getOrThrow(
      CompositionManifest.json.fromJson({ ...fields, publisher_pubkey, signature: expect.signature })
    )
    assert.deepStrictEqual(read.publisher, suite.ed25519.publicKey(bytes(seed)))
    sameHex(CompositionManifest.preimage(read), expect.signed_bytes)
    assert.deepStrictEqual(CompositionManifest.sign(suite, secret(seed), read), read)
    assert.isTrue(CompositionManifest.verify(suite, read, 1999))
  }
}
