import * as Integer from "@catenet/crypto/Integer"
import * as Preimage from "@catenet/crypto/Preimage"
import { assert } from "@effect/vitest"
import { bytes, type Runners, sameHex } from "./runner.ts"

const field = (of: any): Uint8Array => {
  if ("fixed" in of) return bytes(of.fixed)
  if ("var" in of) return Preimage.text(of.var)
  if ("u64" in of) return Integer.u64le(BigInt(of.u64))
  if ("u32" in of) return Integer.u32le(of.u32)
  return Integer.u8(of.tag)
}

export const preimage: Runners = {
  preimage: ({ input, expect }) => {
    const made = Preimage.make(input.domain, ...input.fields.map(field))
    sameHex(made, expect.bytes)
    assert.notStrictEqual(expect.bytes, expect.differs_from_hex)
  }
}
