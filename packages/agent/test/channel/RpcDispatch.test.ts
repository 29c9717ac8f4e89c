/** The published exchanges of JSON-RPC over a channel, and what a peer cannot do with others. */
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import { maxMessage, readRequest } from "@catenet/crypto/rpc/Envelope"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { duplexPair } from "node:stream"
import * as RpcDispatch from "../../src/channel/rpc/RpcDispatch.ts"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"
import { type Tool, ToolFailed } from "../../src/channel/rpc/Tool.ts"

const caller = { noiseKey: new Uint8Array(32), rights: "rw" as const }
const tool = (name: string, run: Tool["run"]): Tool => ({ name, description: `The ${name}.`, isReadOnly: true, run })
const tools: ReadonlyArray<Tool> = [
  tool("service/text_generation", (args) =>
    typeof args === "object" && args !== null && "input" in args
      ? Effect.succeed({ output: "ok" })
      : Effect.fail(new ToolFailed({ reason: "no input" }))
  ),
  tool("ping", () => Effect.succeed({ reply: "pong" })),
  tool("echo", (args) => Effect.succeed(args)),
  tool("big", () => Effect.succeed("x".repeat(maxMessage))),
  tool("broken", () => Effect.die(new Error("a secret of the inside")))
]

const ask = (request: string) =>
  Effect.runPromise(RpcDispatch.respond(readRequest(new TextEncoder().encode(request)), tools, caller)).then((bytes) =>
    new TextDecoder().decode(bytes)
  )

interface Vector {
  readonly id: string
  readonly kind: string
  readonly input: { readonly request: string; readonly request_frame: string }
  readonly expect: {
    readonly response?: string
    readonly response_frame?: string
    readonly error_code?: number
    readonly id?: unknown
  }
}
const file = new URL("../../../crypto/test/vectors/jsonrpc.json", import.meta.url)
const vectors: ReadonlyArray<Vector> = JSON.parse(readFileSync(file, "utf8")).vectors

describe("JSON-RPC over a channel", () => {
  for (const { expect, id, input, kind } of vectors)
    if (kind === "exchange")
      it(`answers as published: ${id}`, async () => {
        const [client, server] = duplexPair()
        const serving = Effect.runPromise(RpcServer.serve(server, { tools: () => tools, caller }))
        client.write(Hex.decode(input.request_frame).pipe(Result.getOrThrow))
        const [frame] = (await once(client, "data")) as [Buffer]
        assert.strictEqual(frame.readUInt16BE(), frame.length - 2)
        const response = frame.subarray(2).toString()
        if (expect.response_frame !== undefined) assert.strictEqual(frame.toString("hex"), expect.response_frame)
        else {
          const said = JSON.parse(response)
          assert.deepStrictEqual([said.error.code, said.id], [expect.error_code, expect.id])
        }
        client.end()
        await serving
      })

  it("lists tools by name and says who serves", async () => {
    const names = JSON.parse(await ask(`{"id":1,"method":"tools/list"}`)).result.tools.map(
      ({ name }: { name: string }) => name
    )
    assert.deepStrictEqual(names, ["big", "broken", "echo", "ping", "service/text_generation"])
    const { result } = JSON.parse(await ask(`{"id":1,"method":"initialize"}`))
    assert.deepStrictEqual(
      { ...result, serverInfo: result.serverInfo.name },
      { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: "ct-agent" }
    )
  })

  it("lists by pages what no frame carries, each tool once, and one that alone is too long by its name", () => {
    const schema = (length: number) => ({ inputSchema: { type: "object", description: "x".repeat(length) } })
    const many = [
      ...Array.from({ length: 500 }, (_, n) =>
        Object.assign(tool(`t${1000 + n}`, Effect.succeed), { listed: schema(n) })
      ),
      Object.assign(tool("u", Effect.succeed), { listed: schema(maxMessage) }),
      tool("v".repeat(maxMessage), Effect.succeed),
      tool("w", Effect.succeed)
    ]
    const listed: Array<{ readonly name: string; readonly inputSchema?: unknown }> = []
    let pages = 0
    for (let cursor: string | undefined, more = true; more; pages++) {
      const { nextCursor, tools: page } = JSON.parse(JSON.stringify(RpcDispatch.toolPage(many.toReversed(), cursor)))
      assert.isAtMost(JSON.stringify({ tools: page, nextCursor }).length, maxMessage - 512)
      listed.push(...page)
      cursor = nextCursor
      more = cursor !== undefined
    }
    assert.isAbove(pages, 2)
    const names = many.map(({ name }) => name).filter((name) => name.length < 10)
    assert.deepStrictEqual(
      listed.map(({ name }) => name),
      names
    )
    assert.isUndefined(listed.find(({ name }) => name === "u")?.inputSchema)
  })

  it("goes on behind the cursor of a request, and begins anew with one that is none", async () => {
    const names = async (params: string) =>
      JSON.parse(await ask(`{"id":1,"method":"tools/list","params":${params}}`)).result.tools.map(
        ({ name }: { name: string }) => name
      )
    assert.deepStrictEqual(await names(`{"cursor":"echo"}`), ["ping", "service/text_generation"])
    assert.deepStrictEqual(await names(`{"cursor":"zzz"}`), [])
    for (const none of [`{"cursor":7}`, "[]", "null"]) assert.lengthOf(await names(none), tools.length)
  })

  it("answers an error where the response does not fit a frame, and nothing of the inside where a tool breaks", async () => {
    const big = JSON.parse(await ask(`{"id":1,"method":"tools/call","params":{"name":"big"}}`))
    assert.strictEqual(big.error.code, -32_000)
    const broken = await ask(`{"id":1,"method":"tools/call","params":{"name":"broken"}}`)
    assert.strictEqual(JSON.parse(broken).error.code, -32_603)
    assert.notInclude(broken, "secret")
  })

  it("answers several requests of one write in their order, and one that comes byte by byte", async () => {
    const [client, server] = duplexPair()
    const serving = Effect.runPromise(RpcServer.serve(server, { tools: () => tools, caller }))
    const request = (id: number) => {
      const body = Buffer.from(`{"id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"n":${id}}}}`)
      return Buffer.concat([Buffer.of(body.length >> 8, body.length & 255), body])
    }
    const ids = Array.from({ length: 200 }, (_, index) => index)
    const received: Array<Buffer> = []
    client.on("data", (chunk: Buffer) => received.push(chunk))
    client.write(Buffer.concat(ids.map(request)))
    for (const byte of request(200)) client.write(Buffer.of(byte))
    client.end()
    await serving
    const all = Buffer.concat(received)
    const answered: Array<number> = []
    for (let at = 0; at < all.length; at += 2 + all.readUInt16BE(at))
      answered.push(JSON.parse(all.subarray(at + 2, at + 2 + all.readUInt16BE(at)).toString()).id)
    assert.deepStrictEqual(answered, [...ids, 200])
  })

  it("fails when the session ends within a message", async () => {
    const [client, server] = duplexPair()
    const serving = Effect.runPromise(Effect.flip(RpcServer.serve(server, { tools: () => tools, caller })))
    client.end(Buffer.of(0, 9, 1))
    assert.include((await serving).message, "cut")
  })

  it.effect.prop(
    "answers every message with one response that is JSON and fits, whatever it holds",
    [Schema.Uint8Array, Schema.String, Schema.String],
    ([bytes, method, name]) =>
      Effect.gen(function* () {
        const request = JSON.stringify({ id: name, method, params: { name, arguments: { text: method } } })
        const messages = [
          bytes,
          new TextEncoder().encode(request),
          new TextEncoder().encode(request.replace(method, "tools/call"))
        ]
        for (const message of messages) {
          const response = yield* RpcDispatch.respond(readRequest(message), tools, caller)
          assert.isAtMost(response.length, maxMessage)
          const said: Json.Json = JSON.parse(new TextDecoder().decode(response))
          assert.isTrue(typeof said === "object" && said !== null && ("result" in said || "error" in said))
        }
      })
  )
})
