import * as Bytes from "@catenet/crypto/Bytes"
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as MarketService from "../../src/market/MarketService.ts"
import * as NoiseFrame from "../../src/noise/NoiseFrame.ts"
import { type Runners, sameHex } from "./runner.ts"

const refused = (id: Json.Json, code: keyof typeof Envelope.codes, reason: string) =>
  Result.fail(new Envelope.RpcError({ id, code: Envelope.codes[code], reason }))

const tool = (
  id: Json.Json,
  { name, arguments: given }: Envelope.ToolCall
): Result.Result<Json.Json, Envelope.RpcError> => {
  if (name === "ping") return Result.succeed({ reply: "pong" })
  if (name !== "service/text_generation") return refused(id, "invalidParams", "unknown tool")
  return given !== null && typeof given === "object" && "input" in given
    ? Result.succeed({ output: "ok" })
    : refused(id, "toolFailed", "no input")
}

const methods: Readonly<Record<string, Json.Json>> = {
  initialize: {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "ct-agent", version: "<version text>" }
  },
  "tools/list": {
    tools: ["agent/card", "ping"].map((name) => ({ name, description: "<text>" }))
  }
}

/** A server with the tools of the vectors. */
const answer = (message: Uint8Array): string =>
  Envelope.readRequest(message).pipe(
    Result.flatMap((request) => {
      const { id, method } = request
      const result = methods[method]
      if (result !== undefined) return Result.succeed({ id, result })
      if (method !== "tools/call") return refused(id, "methodNotFound", "unknown method")
      return Result.map(
        Result.flatMap(Envelope.toolCall(request), (call) => tool(id, call)),
        (result) => ({ id, result })
      )
    }),
    Result.match({ onSuccess: ({ id, result }) => Envelope.success(id, result), onFailure: Envelope.failure })
  )

const frame = (text: string) => Result.getOrThrow(NoiseFrame.encode(Bytes.fromText(text)))

export const jsonrpc: Runners = {
  exchange: ({ input, expect }) => {
    sameHex(frame(input.request), input.request_frame)
    const response = answer(Bytes.fromText(input.request))
    if (expect.response !== undefined) {
      assert.strictEqual(response, expect.response)
      sameHex(frame(response), expect.response_frame)
      assert.isTrue(Result.isSuccess(Envelope.readResponse(Bytes.fromText(response))))
    } else {
      const { id, error } = JSON.parse(response)
      assert.deepStrictEqual([id, error.code], [expect.id, expect.error_code])
      const read = Result.getOrThrow(Result.flip(Envelope.readResponse(Bytes.fromText(response))))
      assert.strictEqual(read.code, expect.error_code)
    }
  },
  shape: ({ input, expect }) =>
    assert.deepStrictEqual(
      JSON.parse(answer(Bytes.fromText(Envelope.request(1n, input.method)))).result,
      expect.result
    ),
  slug: ({ expect }) => {
    for (const [service, slug] of expect.cases) assert.strictEqual(MarketService.slug(service), slug)
  }
}
