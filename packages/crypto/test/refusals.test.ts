/** What every refusal is called, and its sentence; and the name under which each record is refused. */
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Join from "@catenet/crypto/admission/Join"
import * as Outcome from "@catenet/crypto/admission/Outcome"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as RelayGate from "@catenet/crypto/admission/RelayGate"
import * as AgentCard from "@catenet/crypto/AgentCard"
import * as Base64 from "@catenet/crypto/Base64"
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Capability from "@catenet/crypto/Capability"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as Integer from "@catenet/crypto/Integer"
import * as Invitation from "@catenet/crypto/Invitation"
import * as Json from "@catenet/crypto/Json"
import * as JsonField from "@catenet/crypto/JsonField"
import * as DemoPrompt from "@catenet/crypto/manifest/DemoPrompt"
import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import * as Bid from "@catenet/crypto/market/Bid"
import * as Offer from "@catenet/crypto/market/Offer"
import * as OriginKey from "@catenet/crypto/OriginKey"
import * as Permission from "@catenet/crypto/Permission"
import * as Preimage from "@catenet/crypto/Preimage"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import * as Verification from "@catenet/crypto/receipt/Verification"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import * as SignedRecord from "@catenet/crypto/SignedRecord"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import * as ServiceEnvironment from "../src/manifest/ServiceEnvironment.ts"
import * as TokenEncoding from "../src/TokenEncoding.ts"
import * as CompositionManifest from "./records/CompositionManifest.ts"
import * as Coordinate from "./records/Coordinate.ts"
import * as ForwardFrame from "./records/ForwardFrame.ts"
import * as Staple from "./records/Staple.ts"

const record = "grant"
const receipts = { reason: "Malformed", seq: 7n } as const

const sentences: ReadonlyArray<readonly [Error & { readonly _tag: string }, string, string]> = [
  [new Base64.NotBase64({ form: "url" }), "NotBase64", "not canonical url base64"],
  [new Bytes.NotUtf8(), "NotUtf8", "not UTF-8 text"],
  [new Hex.NotHex({ wantedBytes: undefined }), "NotHex", "not hex"],
  [new Hex.NotHex({ wantedBytes: 32 }), "NotHex", "not 64 hex characters"],
  [new Json.NotJson({ at: 3, why: "x" }), "NotJson", "not JSON at character 3: x"],
  [new Json.NotCanonical({ why: "x" }), "NotCanonical", "no canonical JSON: x"],
  [new TokenEncoding.NotAToken({ wanted: "x" }), "NotAToken", "a token is x"],
  [new SignedRecord.Malformed({ record, why: "x" }), "Malformed", "grant: x"],
  [new SignedRecord.BadKey({ record }), "BadKey", "grant: the signer's key is no curve point"],
  [new SignedRecord.BadSignature({ record }), "BadSignature", "grant: the signature does not hold"],
  [new SignedRecord.Expired({ record, expiresAt: 9n }), "Expired", "grant: expired at 9"],
  [new Outcome.Incomplete(), "Incomplete", "the answer is not complete yet"],
  [new Outcome.Refused({ token: undefined }), "Refused", "the edge refused the join"],
  [new Outcome.Refused({ token: "pairing" }), "Refused", "the edge refused the join: pairing"],
  [new Outcome.ParkExpired(), "ParkExpired", "the park ended without a partner"],
  [new Outcome.Broken({ why: "x", retry: true }), "Broken", "x"],
  [new Join.BadJoin({ why: "x", token: "malformed", unknownPhase: false }), "BadJoin", "join: x"],
  [new Verification.ReceiptsInvalid({ reason: "BadPubkey" }), "ReceiptsInvalid", "the public key is unusable"],
  [new Verification.ReceiptsInvalid(receipts), "ReceiptsInvalid", "receipt 7: Malformed"],
  [new Verification.ReceiptsInvalid({ ...receipts, field: "sig" }), "ReceiptsInvalid", "receipt 7: Malformed (sig)"],
  [
    new Verification.ReceiptsInvalid({ reason: "SeqGap", seq: 7n, expected: 6n }),
    "ReceiptsInvalid",
    "receipt 7 where 6 should follow"
  ],
  [new Export.NotAnExport({ reason: "Empty" }), "NotAnExport", "the file is empty"],
  [new Export.NotAnExport({ reason: "BadHeader", line: 1 }), "NotAnExport", "the first line is no header"],
  [new Export.NotAnExport({ reason: "BadReceipt", line: 4 }), "NotAnExport", "line 4 is no receipt"],
  [new ReleaseManifest.NoChecksum({ why: "x" }), "NoChecksum", "no checksum: x"],
  [new ReleaseManifest.ReleaseRefused({ why: "tag" }), "ReleaseRefused", "the release does not verify: tag"],
  [new Envelope.RpcError({ id: 1n, code: -32000, reason: "x" }), "RpcError", "x"],
  [new Envelope.ResponseError({ code: undefined, reason: "x" }), "ResponseError", "x"],
  [new Envelope.ResponseError({ code: -32000, reason: "x" }), "ResponseError", "x (-32000)"],
  [
    new PaymentWebhook.WebhookRefused({ reason: "Stale", status: 401 }),
    "WebhookRefused",
    "the payment notice is refused: Stale"
  ]
]

describe("a refusal", () => {
  for (const [error, tag, sentence] of sentences) {
    it(`${tag}: ${sentence}`, () => assert.deepStrictEqual([error._tag, error.message], [tag, sentence]))
  }
})

const none = new Uint8Array(0)
const zeros = (length: number) => new Uint8Array(length)
const withByte = (length: number, at: number, byte: number) => zeros(length).fill(byte, at, at + 1)
const goodPermission = zeros(139).fill(1, 128, 130)

/** A field that ends, behind fields of the right form; how a text and a length are wrong; a byte too many. */
const malformed: ReadonlyArray<readonly [Result.Result<unknown, SignedRecord.Malformed>, string, string]> = [
  [Grant.decode(none), "grant", "0 bytes where 139 are wanted"],
  [Grant.decode(zeros(139)), "grant", "direction is not 1, 2 or 3"],
  [Grant.decode(withByte(139, 128, 4)), "grant", "direction is not 1, 2 or 3"],
  [Grant.decode(withByte(139, 128, 1)), "grant", "rights are not 1, 2 or 3"],
  [Permission.decode("x", goodPermission.with(129, 4)), "x", "rights are not 1, 2 or 3"],
  [Permission.decode("x", goodPermission.with(130, 2)), "x", "delegable is not 0 or 1"],
  [Grant.fromHex("0"), "grant", "not 278 hex characters"],
  [Invitation.decode(zeros(140)), "invitation", "140 bytes where 139 are wanted"],
  [Invitation.fromHex("0"), "invitation", "not 278 hex characters"],
  [Capability.decode(zeros(67)), "capability", "fewer than 68 bytes"],
  [Capability.decode(zeros(69)), "capability", "not the size it says"],
  [Capability.decode(withByte(69, 64, 1).with(68, 0xff)), "capability", "the edge address is not UTF-8"],
  [Bootstrap.parse(Redacted.make("")), "bootstrap secret", "not two named 64-hex tokens"],
  [OriginKey.fromFile(zeros(31)), "origin key file", "31 bytes where 32 are wanted"],
  [Staple.decode(none), "membership staple", "ends within a field"],
  [Staple.decode(zeros(145)), "membership staple", "more bytes behind the record"],
  [Coordinate.decode(none), "coordinate record", "ends within a field"],
  [Join.decodeBody(zeros(139)), "join", "no endpoint"],
  [Join.decodeBody(zeros(140).with(139, 0xff)), "join", "endpoint is not UTF-8"],
  [ForwardFrame.read(Uint8Array.of(4)), "forward frame", "unknown tag"],
  [ForwardFrame.read(Uint8Array.of(1, 0, 0, 0, 1, 0, 1, 0xff)), "forward frame", "a text is not UTF-8"],
  [ForwardFrame.read(Uint8Array.of(1, 0, 0, 0, 1, 8, 1)), "forward frame", "a length above its limit"]
]

describe("a malformed record", () => {
  for (const [answer, name, why] of malformed) {
    it(`is named: ${name}: ${why}`, () => {
      const refused = Result.getOrThrow(Result.flip(answer))
      assert.deepStrictEqual([refused.record, refused.why], [name, why])
    })
  }
  const texts = {
    "agent card": AgentCard.json,
    offer: Offer.json,
    bid: Bid.json,
    "service manifest": ServiceManifest.json,
    "composition manifest": CompositionManifest.json,
    environment: ServiceEnvironment.json,
    receipt: Receipt.json
  }
  for (const [name, form] of Object.entries(texts)) {
    it(`is named: ${name}`, () => {
      for (const answer of [form.parse(""), form.parse("[]"), form.fromJson(7)]) {
        const refused = Result.getOrThrow(Result.flip<unknown, SignedRecord.Malformed>(answer))
        assert.strictEqual(refused.record, name)
      }
    })
  }
})

describe("an answer of an edge", () => {
  const why = (answer: Result.Result<unknown, { readonly _tag: string; readonly message: string }>) =>
    Result.match(answer, {
      onSuccess: () => "ok",
      onFailure: (error) =>
        `${error._tag}: ${error.message}${error instanceof Outcome.Broken ? ` ${String(error.retry)}` : ""}`
    })
  const ascii = (text: string) => Buffer.from(text, "latin1")
  it("says how it broke, and whether another try is worth it", () => {
    assert.strictEqual(why(Acknowledgement.read(none, true)), "Broken: dropped before the acknowledgement true")
    assert.strictEqual(why(Acknowledgement.read(zeros(9), true)), "Broken: dropped before the acknowledgement true")
    assert.strictEqual(
      why(Acknowledgement.read(ascii("x".repeat(512)), false)),
      "Broken: no end of line within 512 bytes false"
    )
    assert.strictEqual(
      why(Possession.readChallenge(ascii("OK"), true)),
      "Broken: the edge ended after 2 bytes of its challenge false"
    )
    assert.strictEqual(why(Possession.readChallenge(ascii("NX"), true)).slice(0, 6), "Broken")
    assert.strictEqual(why(Possession.readChallenge(ascii("XO"), true)).slice(0, 6), "Broken")
    assert.strictEqual(why(RelayGate.readReply(ascii("OK\0"), true)), "Broken: the edge ended within its reply false")
    assert.strictEqual(why(RelayGate.readReply(ascii("OX\0\0"), true)), "Broken: neither OK nor NO false")
    assert.strictEqual(why(RelayGate.readReply(ascii("XK\0\0"), true)), "Broken: neither OK nor NO false")
    assert.strictEqual(
      why(RelayGate.readReply(ascii("OK\0\x01\xff"), true)),
      "Broken: the node's identity is not UTF-8 false"
    )
  })
  it("that is a join is refused with its reason", () => {
    assert.strictEqual(why(Join.read(Uint8Array.of(0xff, 9))), "BadJoin: join: unknown phase")
    assert.strictEqual(why(Join.read(Uint8Array.of(0, 0))), "BadJoin: join: a body of 0 bytes")
    assert.strictEqual(why(Join.read(Uint8Array.of(4, 1))), "BadJoin: join: a body of 1025 bytes")
    assert.strictEqual(why(Join.read(Uint8Array.of(4, 0))), "Incomplete: the answer is not complete yet")
  })
})

describe("a number or key that does not fit", () => {
  it("is named with its bounds", () => {
    assert.throws(() => Integer.u8(256), "256 is not within 0..255")
    assert.throws(() => Integer.u64le(-1n), "-1 is not within 0..2^64-1")
    assert.throws(() => Preimage.fixed32(zeros(31)), "31 bytes where 32 are wanted")
    assert.throws(() => Json.write(Number.NaN), "NaN has no JSON")
    const permission = { direction: "both", rights: "r", delegable: false, expiresAt: 1n } as const
    assert.throws(
      () => Permission.preimage("x", { ...permission, channel: zeros(31), subject: zeros(32) }),
      "channel and subject have 32 bytes each"
    )
    assert.throws(() => Permission.preimage("x", { ...permission, channel: zeros(32), subject: none }), RangeError)
  })
  it("is refused as JSON with its reason", () => {
    const why = (text: string) => Result.getOrThrow(Result.flip(Json.parse(text))).message
    assert.strictEqual(why("1 1"), "not JSON at character 2: more text behind the value")
    assert.strictEqual(why('{"a" 1}'), "not JSON at character 5: no colon behind a key")
    assert.strictEqual(why('{"a":1'), "not JSON at character 6: an object does not end")
    assert.strictEqual(why("[1"), "not JSON at character 2: an array does not end")
    assert.strictEqual(why("{1"), "not JSON at character 1: no text where one is wanted")
    assert.strictEqual(why('"a'), "not JSON at character 0: a text does not end")
    assert.strictEqual(why('"\\x"'), "not JSON at character 0: a text with a control character or an unknown escape")
    assert.strictEqual(why(""), "not JSON at character 0: no value where one is wanted")
    assert.strictEqual(why("1e999"), "not JSON at character 5: a number out of range")
    const obstacle = (value: Json.Json) => Result.getOrThrow(Result.flip(Json.canonical(value))).why
    assert.deepStrictEqual([obstacle(1.5), obstacle("\ud800")], ["a number is no integer", "half a surrogate pair"])
  })
  it("is refused as a field of JSON with its bounds", () => {
    const read = (field: Schema.Codec<unknown>, value: unknown) =>
      Result.match(Schema.decodeUnknownResult(field)(value), {
        onSuccess: () => "ok",
        onFailure: ({ message }) => message
      })
    assert.deepStrictEqual([read(JsonField.U16, 65535n), read(JsonField.U32, 4294967295n)], ["ok", "ok"])
    assert.notStrictEqual(read(JsonField.U16, 65536n), "ok")
    assert.notStrictEqual(read(JsonField.U32, 4294967296n), "ok")
    assert.include(read(JsonField.U64, 2n ** 64n), "0..2^64-1")
    assert.include(read(JsonField.Text, "\ud800"), "half a surrogate pair")
    assert.include(read(Schema.toType(JsonField.Hex32), zeros(31)), "32 bytes")
    const prompt = (min: bigint, max: bigint) =>
      read(DemoPrompt.DemoPrompt, {
        system: "",
        parameters: [{ name: "n", type: "int", min, max }],
        examples: []
      })
    assert.strictEqual(prompt(-(2n ** 63n), 2n ** 63n - 1n), "ok")
    assert.include(prompt(-(2n ** 63n) - 1n, 0n), "-2^63..2^63-1")
    assert.include(prompt(0n, 2n ** 63n), "-2^63..2^63-1")
  })
  it("is no token", () => {
    const wanted = (answer: Result.Result<unknown, TokenEncoding.NotAToken>) =>
      Result.getOrThrow(Result.flip(answer)).wanted
    assert.strictEqual(wanted(TokenEncoding.fromHexText("")), "64 hex characters")
  })
})
