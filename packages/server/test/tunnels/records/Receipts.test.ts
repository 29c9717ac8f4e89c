import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { bearerOf, sessionOf } from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { FactsEdge } from "./FactsEdge.ts"
import { server, tunnel } from "./FactsServer.ts"

const seed = Redacted.make(new Uint8Array(32).fill(9))
const pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))

/** The receipts of one session, chained and signed as an edge does it; its byte counts are beyond what a double holds. */
const receiptsOf = (token: string) => {
  const routingTokenHash = TokenEncoding.hash(native, Result.getOrThrow(TokenEncoding.fromHexText(token)))
  const chain = { edgeId: "primary", routingTokenHash }
  const moved = { connectedAt: 1000n, bytesIn: 2n ** 60n + 1n, bytesOut: 7n }
  let tip = Receipt.genesis
  return [
    Receipt.sessionOpen({ connectedAt: 1000n, transport: "quic" }),
    Receipt.bytesMoved(moved),
    Receipt.sessionClose({ ...moved, disconnectedAt: 5000n, reason: "closed" })
  ].map((event, n) => {
    const receipt = Result.getOrThrow(Receipt.append(native, seed, chain, tip, BigInt(1000 + n), event))
    tip = receipt
    return receipt
  })
}

const pageOf = (receipts: ReadonlyArray<Receipt.Receipt>) =>
  `{"pubkey":"${pubkey}","edge_id":"primary","receipts":[${receipts.map(Receipt.json.write).join(",")}]}`

const get = (path: string, headers: Readonly<Record<string, string>>) =>
  Effect.flatMap(TestServer.raw(path, { headers }), (response) =>
    Effect.map(
      Effect.promise(() => response.text()),
      (text) => ({ text, status: response.status, headers: response.headers })
    )
  )

const asBearer = (sub: string) => Effect.map(bearerOf(sub), (token) => ({ authorization: `Bearer ${token}` }))

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("an export of receipts", (it) => {
  it.effect("verifies as the edge signed it, for a program and for a page", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("ada", "my cam")
      const receipts = receiptsOf(token)
      yield* edge.tunnel(token, { receipts: pageOf(receipts) })
      const headers = yield* asBearer("ada")
      const file = yield* get(`/me/tunnels/${id}/receipts.jsonl`, headers)
      assert.strictEqual(file.status, 200)
      assert.strictEqual(file.headers.get("content-type"), "application/x-ndjson; charset=utf-8")
      assert.strictEqual(file.headers.get("content-disposition"), `attachment; filename="receipts-${id}.jsonl"`)
      const parsed = Result.getOrThrow(Export.parse(file.text))
      assert.deepStrictEqual(parsed.header, { pubkey, edgeId: "primary", tunnel: "my cam" })
      assert.deepStrictEqual(parsed.receipts, receipts)
      assert.isTrue(Result.isSuccess(Export.verifyUnderOwnKey(portable, parsed)))

      const cookie = `__Host-ct_portal_session=${yield* sessionOf("ada", "ada@example.test")}`
      const page = yield* get(`/portal/tunnels/${id}/receipts.jsonl?since=2`, { cookie })
      assert.strictEqual(page.text, file.text)
      assert.include(page.headers.get("content-disposition") ?? "", `receipts-${id}-since-2.jsonl`)
    })
  )

  it.effect("is refused as a whole, with the reason, when the edge cannot supply it", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("bob", "cam")
      const headers = yield* asBearer("bob")
      const reasonWith = (receipts: string | number) =>
        Effect.andThen(edge.tunnel(token, { receipts }), get(`/me/tunnels/${id}/receipts.jsonl`, headers)).pipe(
          Effect.map(({ status, text }) => [status, (JSON.parse(text) as { reason: string }).reason])
        )
      const [first] = receiptsOf(token)
      assert(first !== undefined)
      const unreadable = [502, "the edge's answer cannot be read"]
      assert.deepStrictEqual(yield* reasonWith(404), [502, "the edge keeps no receipts"])
      assert.deepStrictEqual(yield* reasonWith(500), [502, "the edge answered 500"])
      assert.deepStrictEqual(yield* reasonWith(401), [502, "the edge answered 401"])
      for (const page of [
        "",
        "[]",
        "{}",
        pageOf([first]).slice(0, -3),
        pageOf([first]).replace('"seq":1', '"seq":-1')
      ]) {
        assert.deepStrictEqual(yield* reasonWith(page), unreadable, page)
      }
      yield* edge.away(true)
      assert.deepStrictEqual(yield* reasonWith(200), [502, "the edge cannot be reached"])
      yield* edge.away(false)
      const { issuer } = yield* TestIssuer
      const bare = yield* Layer.build(TestServer.replica({ CT_CP_EDGE_ADMIN_TOKEN: "", CT_OIDC_ISSUER: issuer }))
      const alone = yield* get(`/me/tunnels/${id}/receipts.jsonl`, headers).pipe(Effect.provide(bare))
      assert.deepInclude(JSON.parse(alone.text), { code: "ReceiptsUnavailable", reason: "no edge is configured" })
    }).pipe(Effect.scoped)
  )
})
