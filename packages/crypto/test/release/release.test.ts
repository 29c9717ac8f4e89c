import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Redacted, Result } from "effect"
import * as Asset from "../../src/release/Asset.ts"
import * as any from "../arbitraries.ts"
import { flipped, runs } from "../suite/arbitraries.ts"

const version = Arbitrary.map(any.few(any.integer(0, 3)), (parts) => parts.join("."))
const seed = Redacted.make(new Uint8Array(32).fill(9))
const pinned = Buffer.from(native.ed25519.publicKey(Redacted.value(seed))).toString("hex")

const hex = (content: Uint8Array) => Buffer.from(native.sha256(content)).toString("hex")

describe("versions", () => {
  it.prop(
    "are ordered strictly and transitively",
    { a: version, b: version, c: version },
    ({ a, b, c }) => {
      assert.isFalse(Asset.isNewer(a, a) || Asset.isNewer(`v${a}`, a))
      assert.isFalse(Asset.isNewer(a, b) && Asset.isNewer(b, a))
      if (Asset.isNewer(a, b) && Asset.isNewer(b, c)) assert.isTrue(Asset.isNewer(a, c))
    },
    runs
  )
})

describe("a release", () => {
  it.prop(
    "verifies as published and with nothing changed",
    { content: any.anyBytes(40), other: any.anyBytes(40), bit: any.integer(0, 4000) },
    ({ content, other, bit }) => {
      const manifest = Bytes.fromText(`{"assets":{"a":"${hex(content)}"},"created_at":1,"schema":1,"tag":"v1.2.3"}`)
      const download = {
        pinnedKeys: [pinned],
        manifest,
        signature: ReleaseManifest.sign(native, seed, manifest),
        tag: "1.2.3",
        asset: "a",
        content,
        checksumFile: hex(content)
      }
      const judged = (changed: Partial<ReleaseManifest.Download>) =>
        Result.match(ReleaseManifest.judge(native, { ...download, ...changed }), {
          onSuccess: (verdict): string => verdict,
          onFailure: ({ why }) => why
        })
      assert.strictEqual(judged({}), "verified")
      assert.strictEqual(judged({ manifest: flipped(manifest, bit) }), "signature")
      if (!Bytes.equal(content, other)) assert.strictEqual(judged({ content: other }), "digest")
      assert.strictEqual(judged({ asset: "constructor" }), "asset")
      assert.strictEqual(judged({ tag: "vv1.2.3" }), "tag")
      assert.strictEqual(judged({ pinnedKeys: ["00".repeat(32)] }), "signature")
    },
    runs
  )
  it("refuses manifests of another form even when they are signed", () => {
    for (const text of [
      "{}",
      '{"assets":{},"created_at":1,"schema":1,"tag":"v1"}',
      '{"assets":{"a":"00"},"created_at":1,"schema":1,"tag":"v1"}',
      "[]"
    ]) {
      assert.isTrue(Result.isFailure(ReleaseManifest.parse(Bytes.fromText(text))), text)
    }
    const of = (schema: number, tag: string) =>
      Result.isSuccess(
        ReleaseManifest.parse(
          Bytes.fromText(`{"assets":{"a":"${"00".repeat(32)}"},"created_at":1,"schema":${schema},"tag":"${tag}"}`)
        )
      )
    assert.deepStrictEqual([of(1, "v1"), of(2, "v1"), of(1, "")], [true, false, false])
  })
  it.prop(
    "has a checksum file that any text may stand in for",
    { noise: any.text },
    ({ noise }) => {
      ReleaseManifest.digestOf(noise, noise)
    },
    runs
  )
  it("has a checksum file that says why it does not help", () => {
    const [a, b] = ["aa".repeat(32), "bb".repeat(32)]
    const why = (text: string) =>
      Result.match(ReleaseManifest.digestOf(text, "x"), {
        onSuccess: (digest) => Buffer.from(digest).toString("hex"),
        onFailure: (error) => error.why
      })
    assert.deepStrictEqual([why(a), why(`# c\n\n${a}\n`), why(`${a}  x\n${b}  y\n${b}`)], [a, a, a])
    assert.deepStrictEqual([why(`${a} *dir/x`), why(`${a}  dir\\x`)], [a, a])
    assert.strictEqual(why("zz"), "a line does not start with 64 hex characters")
    assert.strictEqual(why(`${a}  x\n${a}  x`), "the asset is listed twice")
    assert.strictEqual(why(`${a}  y`), "the asset is not listed")
    assert.strictEqual(why(""), "the asset is not listed")
    assert.strictEqual(why(`${a}\n${b}`), "several digests without a name")
  })
  it("is newer by number, part by part; what is no number counts as nothing", () => {
    const newer = [
      ["1.10", "1.9"],
      ["v2", "1.9.9"],
      ["1.0.0", "1.0"],
      ["1.x", "1.0"],
      ["1.0", "1.x"],
      ["1.0", "1.0.1"]
    ].map(([offered = "", running = ""]) => Asset.isNewer(offered, running))
    assert.deepStrictEqual(newer, [true, true, true, false, false, false])
  })
  it("names the manifest when it cannot be read", () => {
    const unread = (file: Uint8Array) => Result.getOrThrow(Result.flip(ReleaseManifest.parse(file))).why
    assert.deepStrictEqual([unread(Uint8Array.of(0xff)), unread(Bytes.fromText("{}"))], ["manifest", "manifest"])
  })
})
