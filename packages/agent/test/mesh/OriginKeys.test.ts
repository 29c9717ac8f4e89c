import { native } from "@catenet/crypto/native"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as OriginKeys from "../../src/mesh/OriginKeys.ts"

const token = Redacted.make(new Uint8Array(32).fill(7))

const hex = (secret: Redacted.Redacted<Uint8Array>) => Buffer.from(Redacted.value(secret)).toString("hex")
const other = Redacted.make(new Uint8Array(32).fill(8))
const visitorToken = VisitorToken.of(native, token)

const stage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const places = { originKey: `${folder}/origin.key`, originKeyDir: undefined, capability: `${folder}/capability.bin` }
  return { fs, places, load: OriginKeys.load(places, token, "edge.example:4433") }
})

const run = <A, E>(body: Effect.Effect<A, E, Effect.Services<typeof stage> | SecureRandom.SecureRandom>) =>
  body.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer), Effect.provide(SecureRandom.layerWebCrypto))

describe("an origin key", () => {
  it.effect("is stored, and stays when its capability file is deleted", () =>
    run(
      Effect.gen(function* () {
        const { fs, load, places } = yield* stage
        const start = Effect.gen(function* () {
          const { keys, token } = yield* load
          return {
            capability: Buffer.from(yield* fs.readFile(places.capability)).toString("hex"),
            keys: keys.map(({ publicKey }) => Buffer.from(publicKey).toString("hex")),
            token: hex(token)
          }
        })
        const first = yield* start
        assert.strictEqual(first.token, "07".repeat(32))
        assert.strictEqual(first.capability.slice(0, 128), hex(visitorToken) + first.keys[0])
        assert.deepStrictEqual(yield* start, first)
        yield* fs.remove(places.capability)
        assert.deepStrictEqual(yield* start, first)
        for (const path of [places.capability, `${places.originKey}.token`])
          assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
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

describe("the routing token of a mesh tunnel", () => {
  const edge = "edge.example:4433"

  it.effect(
    "is taken from an installed capability, which is replaced by one with a visitor token where the edge supports that",
    () =>
      run(
        Effect.gen(function* () {
          const { fs, load, places } = yield* stage
          const field = Effect.map(fs.readFile(places.capability), (bytes) =>
            Buffer.from(bytes.subarray(0, 32)).toString("hex")
          )
          yield* load
          yield* OriginKeys.share(places, token, false)
          assert.strictEqual(yield* field, hex(token))
          yield* fs.remove(`${places.originKey}.token`)
          assert.strictEqual(hex((yield* OriginKeys.load(places, other, edge)).token), hex(token))
          yield* OriginKeys.share(places, other, true)
          assert.strictEqual(yield* field, hex(token))
          yield* OriginKeys.share(places, token, true)
          assert.strictEqual(yield* field, hex(visitorToken))
          assert.strictEqual(hex((yield* OriginKeys.load(places, other, edge)).token), hex(token))
        })
      )
  )

  it.effect("is the new one where it was replaced, with a new capability of the same key", () =>
    run(
      Effect.gen(function* () {
        const { fs, load, places } = yield* stage
        const before = yield* load
        for (const visits of [true, false]) {
          yield* OriginKeys.share(places, token, visits)
          const loaded = yield* OriginKeys.load(places, other, edge, token)
          assert.strictEqual(hex(loaded.token), hex(other))
          assert.deepStrictEqual(
            loaded.keys.map(({ publicKey }) => publicKey),
            before.keys.map(({ publicKey }) => publicKey)
          )
          assert.strictEqual(yield* fs.readFileString(`${places.originKey}.token`), `${hex(other)}\n`)
          assert.strictEqual(hex((yield* OriginKeys.load(places, other, edge)).token), hex(other))
          yield* OriginKeys.load(places, token, edge, other)
        }
      })
    )
  )

  it.effect(
    "comes from CT_AGENT_TOKEN where its file is missing, and is reported as missing where that is not set",
    () =>
      run(
        Effect.gen(function* () {
          const { fs, load, places } = yield* stage
          const file = `${places.originKey}.token`
          yield* load
          const before = yield* fs.readFile(places.capability)
          yield* fs.remove(file)
          const refused = yield* Effect.flip(OriginKeys.load(places, undefined, edge))
          assert.match(
            refused.message,
            /capability\.bin: its routing token is not on this machine\. Set CT_AGENT_TOKEN/
          )
          yield* load
          assert.strictEqual(yield* fs.readFileString(file), `${hex(token)}\n`)
          assert.deepStrictEqual(yield* fs.readFile(places.capability), before)
          assert.strictEqual(hex((yield* OriginKeys.load(places, undefined, edge)).token), hex(token))
          yield* fs.remove(file)
          assert.strictEqual(hex((yield* OriginKeys.load(places, other, edge)).token), hex(other))
          assert.notDeepEqual(yield* fs.readFile(places.capability), before)
          yield* fs.writeFileString(file, "something else")
          assert.match((yield* Effect.flip(load)).message, /origin\.key\.token: it is not a routing token/)
        })
      )
  )
})
