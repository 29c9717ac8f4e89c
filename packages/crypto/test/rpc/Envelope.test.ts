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
  it("are written in one form", () => {
    assert.strictEqual(Envelope.request(1n, "m"), '{"jsonrpc":"2.0","id":1,"method":"m"}')
    assert.strictEqual(Envelope.success(null, []), '{"jsonrpc":"2.0","id":null,"result":[]}')
    const error = new Envelope.RpcError({ id: "a", code: Envelope.codes.internal, reason: "x" })
    assert.strictEqual(Envelope.failure(error), '{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"x"}}')
  })
  it("say what is wrong with them", () => {
    const request = (text: string) => Result.getOrThrow(Result.flip(Envelope.readRequest(Bytes.fromText(text)))).reason
    const response = (text: string) => {
      const refused = Result.getOrThrow(Result.flip(Envelope.readResponse(Bytes.fromText(text))))
      return [refused.code, refused.reason]
    }
    assert.deepStrictEqual(["{", "[]", "{}"].map(request), ["not JSON", "not a request object", "no method"])
    for (const text of ["{", "7", "[]", "null"]) assert.deepStrictEqual(response(text), [undefined, "not a response"])
    assert.deepStrictEqual(response("{}"), [undefined, "neither result nor error"])
    assert.deepStrictEqual(response('{"error":{}}'), [undefined, "no message"])
    assert.deepStrictEqual(response('{"error":{"code":7,"message":"x"}}'), [7, "x"])
    for (const params of [undefined, null, [], { name: 7n }]) {
      const refused = Result.getOrThrow(Result.flip(Envelope.toolCall({ id: 5n, method: "tools/call", params })))
      assert.deepStrictEqual([refused.id, refused.code, refused.reason], [5n, -32602, "tools/call wants a name"])
    }
    const long = Envelope.fitting(1n, "x".repeat(Envelope.maxMessage + 1))
    assert.deepStrictEqual(response(new TextDecoder().decode(long)), [
      -32000,
      "the response has 65536 bytes, more than 65535"
    ])
  })
})
