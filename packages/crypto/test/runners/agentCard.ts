import * as AgentCard from "@catenet/crypto/AgentCard"
import * as Json from "@catenet/crypto/Json"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { type Runners, sameHex, secret } from "./runner.ts"

const unsigned = (card: any): AgentCard.AgentCard =>
  Result.getOrThrow(AgentCard.json.fromJson({ ...card, signature: "00".repeat(64) }))

export const agentCard: Runners = {
  bytes: ({ input, expect }) => sameHex(AgentCard.preimage(unsigned(input)), expect.bytes),
  card: ({ input, expect }, suite) => {
    const read = Result.getOrThrow(AgentCard.json.parse(expect.json))
    const { signature: _, holder, ...claims } = input.card === undefined ? read : unsigned(input.card)
    const signed = AgentCard.sign(suite, secret(input.seed), claims)
    assert.deepStrictEqual(signed.holder, holder)
    sameHex(AgentCard.preimage(signed), expect.bytes)
    if (expect.signature !== undefined) sameHex(signed.signature, expect.signature)
    assert.strictEqual(AgentCard.json.write(signed), expect.json)
    assert.deepStrictEqual(read, signed)
  },
  verify: ({ input, expect }, suite) => {
    const card = Result.getOrThrow(AgentCard.json.fromJson(input.card))
    assert.strictEqual(AgentCard.verify(suite, card, BigInt(input.now)), expect.valid)
    const reparsed = Result.getOrThrow(AgentCard.json.parse(Json.write(AgentCard.json.toJson(card))))
    assert.strictEqual(AgentCard.verify(suite, reparsed, BigInt(input.now)), expect.valid)
  }
}
