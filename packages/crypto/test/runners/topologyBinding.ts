import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { assert } from "@effect/vitest"
import { bytes, type Runners, sameHex, secret } from "./runner.ts"

const binding = (input: any): OperatorBinding.OperatorBinding => ({
  topologyId: input.topology_id,
  operator: bytes(input.operator_pubkey)
})

export const topologyBinding: Runners = {
  bytes: ({ input, expect }) => sameHex(OperatorBinding.preimage(binding(input)), expect.bytes),
  signature: ({ input, expect }, suite) => {
    if (expect.bytes !== undefined) sameHex(OperatorBinding.preimage(binding(input)), expect.bytes)
    const proof = OperatorBinding.sign(suite, secret(input.operator_seed), { topologyId: input.topology_id })
    sameHex(proof, expect.proof)
    assert.strictEqual(OperatorBinding.verify(suite, binding(input), proof), expect.valid ?? true)
  },
  verify: ({ input, expect }, suite) =>
    assert.strictEqual(OperatorBinding.verify(suite, binding(input), bytes(input.proof)), expect.valid)
}
