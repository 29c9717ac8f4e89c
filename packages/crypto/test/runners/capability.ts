import * as Capability from "@catenet/crypto/Capability"
import * as OriginKey from "@catenet/crypto/OriginKey"
import { assert } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { bytes, outcome, type Runners, sameHex, secret } from "./runner.ts"

export const capability: Runners = {
  capability: ({ input, expect }) => {
    const file = Capability.encode({
      routingToken: secret(input.routing_token),
      originKey: bytes(input.origin_noise_pubkey),
      edgeAddress: input.edge_address
    })
    sameHex(file, expect.bytes)
    assert.strictEqual(file.length, expect.length)
    const read = Result.getOrThrow(Capability.decode(file))
    sameHex(Redacted.value(read.routingToken), input.routing_token)
    sameHex(read.originKey, input.origin_noise_pubkey)
    assert.strictEqual(read.edgeAddress, input.edge_address)
  },
  decode: ({ input, expect }) => assert.strictEqual(outcome(Capability.decode(bytes(input.bytes))), expect.result),
  rotation: ({ input, expect }, suite) => {
    const old = secret(input.old_origin_private)
    sameHex(suite.x25519.publicKey(Redacted.value(old)), expect.old_origin_public)
    assert.strictEqual(OriginKey.retiredName(suite, old), expect.file_name)
    sameHex(Redacted.value(Result.getOrThrow(OriginKey.fromFile(bytes(expect.file_bytes)))), input.old_origin_private)
  }
}
