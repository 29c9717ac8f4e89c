import { native } from "@catenet/crypto/native"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import * as Verification from "@catenet/crypto/receipt/Verification"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Redacted, Result } from "effect"
import * as any from "../arbitraries.ts"
import { runs } from "../suite/arbitraries.ts"

const seed = Redacted.make(new Uint8Array(32).fill(0x42))
const edgeKey = native.ed25519.publicKey(Redacted.value(seed))
const otherKey = native.ed25519.publicKey(new Uint8Array(32).fill(9))
const chain = { edgeId: "primary", routingTokenHash: "00".repeat(32) }

const event = Arbitrary.map(
  Arbitrary.all([any.integer(0, 3), any.u64, any.u64, any.text]),
  ([which, one, two, text]): Receipt.Event => {
    if (which === 0) return Receipt.sessionOpen({ connectedAt: one, transport: text })
    if (which === 1) return Receipt.bytesMoved({ connectedAt: one, bytesIn: one, bytesOut: two })
    if (which === 2) return { kind: text, payload: { [text]: one, z: text } }
    const session = { connectedAt: one, disconnectedAt: two }
    return Receipt.sessionClose({ ...session, bytesIn: one, bytesOut: two, reason: text })
  }
)

const append = (tip: Receipt.Tip, ts: bigint, happened: Receipt.Event) =>
  Result.getOrThrow(Receipt.append(native, seed, chain, tip, ts, happened))

const chained = (events: ReadonlyArray<Receipt.Event>): ReadonlyArray<Receipt.Receipt> => {
  const receipts: Array<Receipt.Receipt> = []
  for (const [i, each] of events.entries()) receipts.push(append(receipts.at(-1) ?? Receipt.genesis, BigInt(i), each))
  return receipts
}

const receipts = Arbitrary.map(Arbitrary.array(event, { minLength: 3, maxLength: 6 }), chained)
const position = any.integer(0, 5)

const reason = (tried: ReadonlyArray<Receipt.Receipt>, anchor?: string): string =>
  Result.match(Verification.verify(native, edgeKey, tried, anchor), {
    onSuccess: () => "ok",
    onFailure: (error) => error.reason
  })

describe("a chain of receipts", () => {
  it.prop(
    "verifies whole, after a round trip as text, and under no other key",
    { receipts },
    ({ receipts }) => {
      const exported = { header: { pubkey: Buffer.from(edgeKey).toString("hex"), edgeId: "primary" }, receipts }
      const read = Result.getOrThrow(Export.parse(Export.write(exported)))
      assert.deepStrictEqual(read, exported)
      const summary = Result.getOrThrow(Export.verifyUnderOwnKey(native, read))
      assert.deepStrictEqual(Export.verify(native, read, edgeKey), Result.succeed(summary))
      assert.strictEqual(summary.count, receipts.length)
      assert.isTrue(summary.fromGenesis)
      const closed = receipts.filter(({ kind }) => kind === "session_close")
      const sum = closed.reduce((total, { payload }) => total + BigInt(String(payload["bytes_in"])), 0n)
      assert.strictEqual(summary.bytesIn, sum)
      const wrong = Export.verify(native, read, otherKey)
      assert.strictEqual(Result.getOrThrow(Result.flip(wrong)).reason, "BadSignature")
    },
    runs
  )

  it.prop(
    "verifies in segments, each tied to the one before",
    { receipts, cut: any.integer(1, 2) },
    ({ receipts, cut }) => {
      const [head, tail] = [receipts.slice(0, cut), receipts.slice(cut)]
      const anchor = head.at(-1)?.hash ?? ""
      assert.deepStrictEqual([reason(head), reason(tail), reason(tail, anchor)], ["ok", "ok", "ok"])
      assert.strictEqual(reason(tail, anchor.toUpperCase()), "ok")
      assert.strictEqual(reason(tail, Receipt.genesisHash), "BrokenLink")
      assert.strictEqual(reason(head, anchor), "BrokenLink")
    },
    runs
  )

  it.prop(
    "shows a missing, doubled or moved receipt as a gap",
    { receipts, at: position },
    ({ receipts, at }) => {
      const inner = 1 + (at % (receipts.length - 2))
      const each = receipts[inner] ?? assert.fail()
      assert.strictEqual(reason(receipts.toSpliced(inner, 1)), "SeqGap")
      assert.strictEqual(reason(receipts.toSpliced(inner, 0, each)), "SeqGap")
      assert.strictEqual(reason([...receipts].reverse()), "SeqGap")
    },
    runs
  )

  it.prop(
    "shows any field that was changed",
    { receipts, at: position, text: any.text, n: any.u64 },
    ({ receipts, at, text, n }) => {
      const index = at % receipts.length
      const each = receipts[index] ?? assert.fail()
      const changes: ReadonlyArray<Partial<Receipt.Receipt>> = [
        { ts: each.ts + 1n },
        { kind: `${each.kind}${text}x` },
        { payload: { ...each.payload, more: n } },
        { routingTokenHash: "11".repeat(32) },
        { hash: "ab".repeat(32) },
        { sig: "ab".repeat(64) },
        { prevHash: "ab".repeat(32) },
        { edgeId: `${each.edgeId}${text}x` },
        { seq: each.seq + 1n },
        { sig: "ab" },
        { hash: `${each.hash}0` },
        { prevHash: "zz" }
      ]
      for (const change of changes) {
        assert.notStrictEqual(
          reason(receipts.with(index, { ...each, ...change })),
          "ok",
          JSON.stringify(Object.keys(change))
        )
      }
    },
    runs
  )

  it("is not taken for an empty export when it stands in one line with its header", () => {
    const pubkey = Buffer.from(edgeKey).toString("hex")
    const page = { pubkey, edge_id: "primary", receipts: [{ seq: 1, kind: "session_open" }] }
    for (const receipts of [page.receipts, []])
      assert.strictEqual(
        Result.getOrThrow(Result.flip(Export.parse(`${JSON.stringify({ ...page, receipts })}\n`))).reason,
        "BadHeader"
      )
    assert.isTrue(Result.isSuccess(Export.parse(`${JSON.stringify({ pubkey, edge_id: "primary", more: 1 })}\n`)))
  })

  it("tells its ends, and which field is malformed", () => {
    const opened = Receipt.sessionOpen({ connectedAt: 1n, transport: "quic" })
    const receipts = chained([opened, opened, opened])
    const summary = Result.getOrThrow(Verification.verify(native, edgeKey, receipts))
    assert.deepStrictEqual([summary.first, summary.last], [receipts[0], receipts[2]])
    assert.deepStrictEqual([summary.opened, summary.closed], [3, 0])
    const [first = assert.fail()] = receipts
    const field = (change: Partial<Receipt.Receipt>) => {
      const refused = Verification.verify(native, edgeKey, [{ ...first, ...change }])
      return Result.getOrThrow(Result.flip(refused)).field
    }
    assert.deepStrictEqual(
      [field({ prevHash: "zz" }), field({ hash: "zz" }), field({ sig: "zz" })],
      ["prev_hash", "hash", "sig"]
    )
  })

  it("has no place for fractions", () => {
    const event = { kind: "bytes", payload: { bytes_in: 1.5 } }
    assert.isTrue(Result.isFailure(Receipt.append(native, seed, chain, Receipt.genesis, 0n, event)))
  })
})

describe("a receipt", () => {
  it("has one of three kinds, each with its payload", () => {
    const moved = { connectedAt: 1n, bytesIn: 2n, bytesOut: 3n }
    const counted = { bytes_in: 2n, bytes_out: 3n, connected_at: 1n }
    assert.deepStrictEqual(Receipt.sessionOpen({ connectedAt: 1n, transport: "quic" }), {
      kind: "session_open",
      payload: { connected_at: 1n, transport: "quic" }
    })
    assert.deepStrictEqual(Receipt.bytesMoved(moved), { kind: "bytes", payload: counted })
    assert.deepStrictEqual(Receipt.sessionClose({ ...moved, disconnectedAt: 4n, reason: "removed" }), {
      kind: "session_close",
      payload: { ...counted, disconnected_at: 4n, reason: "removed" }
    })
  })
  it("has an object of canonical values for its payload", () => {
    const rest = { prev_hash: "", edge_id: "", kind: "", routing_token_hash: "", hash: "", sig: "" }
    const reads = (payload: unknown) => Result.isSuccess(Receipt.json.fromJson({ seq: 1n, ts: 1n, ...rest, payload }))
    assert.deepStrictEqual([{}, { a: 1n }, { a: [{ b: "c" }] }].map(reads), [true, true, true])
    for (const payload of [null, [], "", 7n, true, undefined, { a: 1.5 }, { a: "\ud800" }])
      assert.isFalse(reads(payload))
  })
})

describe("an export", () => {
  it.prop(
    "gives an answer for any text",
    { receipts, noise: any.text, cut: any.integer(0, 9000) },
    ({ receipts, noise, cut }) => {
      const text = Export.write({ header: { pubkey: "00", edgeId: "primary" }, receipts })
      const at = cut % text.length
      for (const tried of [noise, text.slice(0, at), `${text.slice(0, at)}${noise}${text.slice(at)}`]) {
        const read = Export.parse(tried)
        if (Result.isSuccess(read)) Export.verifyUnderOwnKey(native, read.success)
      }
    },
    { ...runs, arbitrary: { runs: Math.min(runs.arbitrary.runs ?? 1000, 1000) } }
  )
})
