import * as Bytes from "@catenet/crypto/Bytes"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as any from "../arbitraries.ts"
import { runs } from "../suite/arbitraries.ts"

describe("calls over a channel", () => {
  it.prop(
    "are read as they were written, ids and all",
    { id: any.u64, method: any.text, argument: any.text },
    ({ id, method, argument }) => {
      const request = Envelope.request(id, method, { name: method, arguments: { input: argument } })
      const read = Result.getOrThrow(Envelope.readRequest(Bytes.fromText(request)))
      assert.deepStrictEqual([read.id, read.method], [id, method])
      const call = Result.getOrThrow(Envelope.toolCall(read))
      assert.strictEqual(call.name, method)
      const response = Envelope.fitting(id, Envelope.success(id, argument))
      assert.deepStrictEqual(Envelope.readResponse(response), Result.succeed(argument))
      const failed = new Envelope.RpcError({ id, code: Envelope.codes.toolFailed, reason: argument })
      const refused = Result.getOrThrow(Result.flip(Envelope.readResponse(Bytes.fromText(Envelope.failure(failed)))))
      assert.deepStrictEqual([refused.code, refused.reason], [-32000, argument])
    },
    runs
  )
  it.prop(
    "give an answer for any bytes",
    { noise: any.anyBytes(60), text: any.text },
    ({ noise, text }) => {
      for (const message of [noise, Bytes.fromText(text)]) {
        const read = Envelope.readRequest(message)
        if (Result.isFailure(read)) assert.deepStrictEqual([read.failure.code, read.failure.id], [-32700, null])
        Envelope.readResponse(message)
      }
    },
    runs
  )
  it("fit a message to the byte", () => {
    const of = (length: number) => Envelope.fitting(1n, "x".repeat(length)).length
    assert.strictEqual(of(Envelope.maxMessage), Envelope.maxMessage)
    assert.isBelow(of(Envelope.maxMessage + 1), 200)
  })
})
