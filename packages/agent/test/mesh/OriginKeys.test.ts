import * as Capability from "@catenet/crypto/Capability"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as OriginKeys from "../../src/mesh/OriginKeys.ts"

const token = Redacted.make(new Uint8Array(32).fill(7))

const stage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const places = { originKey: `${folder}/origin.key`, originKeyDir: undefined, capability: `${folder}/capability.bin` }
  return { fs, places, load: OriginKeys.load(places, token, "edge.example:4433") }
})

const run = <A, E>(body: Effect.Effect<A, E, Effect.Services<typeof stage> | SecureRandom.SecureRandom>) =>
  body.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer), Effect.provide(SecureRandom.layerWebCrypto))

describe("an origin key", () => {
  it.effect("is kept, with its capability and also when that is gone", () =>
    run(
      Effect.gen(function* () {
        const { fs, load, places } = yield* stage
        const start = Effect.map(load, ({ capability, keys }) => ({
          capability: Buffer.from(Capability.encode(capability)).toString("hex"),
          keys: keys.map(({ publicKey }) => Buffer.from(publicKey).toString("hex"))
        }))
        const first = yield* start
        assert.strictEqual(first.capability.slice(0, 128), "07".repeat(32) + first.keys[0])
        assert.deepStrictEqual(yield* start, first)
        yield* fs.remove(places.capability)
        assert.deepStrictEqual(yield* start, first)
        assert.strictEqual((yield* fs.stat(places.capability)).mode & 0o777, 0o600)
        yield* fs.remove(places.originKey)
        assert.notDeepEqual(yield* start, first)
      })
    )
  )

  it.effect("is not written over another file", () =>
    run(
      Effect.gen(function* () {
        const { fs, load, places } = yield* stage
        yield* fs.writeFileString(places.originKey, "somebody's key of another kind")
        const refused = yield* Effect.flip(load)
        assert.match(refused.message, /origin\.key: it is not an origin key of 32 bytes\. Correct CT_AGENT_ORIGIN_KEY/)
        assert.strictEqual(yield* fs.readFileString(places.originKey), "somebody's key of another kind")
        yield* fs.writeFileString(places.originKey, "")
        assert.strictEqual((yield* load).keys.length, 1)
      })
    )
  )
})
