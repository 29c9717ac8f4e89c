import * as Json from "@catenet/crypto/Json"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { PassThrough, Writable } from "node:stream"
import { longestLine, readLines, writeLine } from "../../src/channel/mcp/LineMessages.ts"
import { listed, resultOf } from "../../src/channel/mcp/McpResult.ts"
import { versionFor } from "../../src/channel/mcp/Versions.ts"
import * as Notification from "../../src/channel/rpc/Notification.ts"

const collect = () => {
  const stream = new PassThrough()
  const messages: Array<unknown> = []
  let cut = 0
  readLines(
    stream,
    (message) => messages.push(message),
    () => cut++
  )
  return { stream, messages, cut: () => cut }
}

describe("messages of local MCP programs", () => {
  it.prop(
    "are read whole however they are cut, and other lines are left out",
    [Schema.Array(Schema.String), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))],
    ([texts, size]) => {
      const { messages, stream } = collect()
      const chunks: Array<Buffer> = []
      const written = new Writable({
        write: (chunk: Buffer, _, done) => {
          chunks.push(chunk)
          done()
        }
      })
      for (const text of texts) {
        writeLine(written, { text: text.toWellFormed() })
        written.write("no json\n\n")
      }
      const bytes = Buffer.concat(chunks)
      for (let at = 0; at < bytes.length; at += size) stream.emit("data", bytes.subarray(at, at + size))
      assert.deepStrictEqual(
        messages.map((message) => (message as { text: string }).text),
        texts.map((text) => text.toWellFormed())
      )
    }
  )

  it("end with a line that is too long, once", () => {
    const { cut, stream } = collect()
    stream.emit("data", Buffer.alloc(longestLine, 0x61))
    assert.strictEqual(cut(), 0)
    stream.emit("data", Buffer.from("ab"))
    stream.emit("data", Buffer.from("ab"))
    assert.strictEqual(cut(), 1)
  })
})

describe("the contract's tools for MCP clients", () => {
  it("have a schema, and an MCP server's own is kept", () => {
    assert.deepStrictEqual(listed({ name: "ping", description: "x" }).inputSchema, { type: "object" })
    const schema = { type: "object", properties: {} }
    assert.deepStrictEqual(listed({ name: "a", inputSchema: schema }).inputSchema, schema)
    assert.isObject(listed(null).inputSchema)
  })

  it("give values as text and as structure, and an MCP server's result as it is", () => {
    const kept = { content: [{ type: "text", text: "a" }], isError: true }
    assert.strictEqual(resultOf(kept), kept)
    assert.deepStrictEqual(resultOf({ output: "a" }).content, [{ type: "text", text: "a" }])
    assert.deepStrictEqual(resultOf([1n]), { content: [{ type: "text", text: "[1]" }] })
    assert.deepStrictEqual(resultOf("a"), { content: [{ type: "text", text: "a" }] })
  })

  it("are spoken of in the client's version, or the newest", () => {
    for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
      assert.strictEqual(versionFor(version), version)
    for (const other of [undefined, "2026-07-28", "1"]) assert.strictEqual(versionFor(other), "2025-11-25")
  })
})

describe("messages beside requests and responses", () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  it("are known by their method, without an id", () => {
    const written = bytes(Notification.write(Notification.cancelled, { requestId: 7n }))
    assert.deepEqual(Notification.read(written, Notification.cancelled), { requestId: 7n })
    assert.isUndefined(Notification.read(written, Notification.progress))
    for (const other of [
      `{"id":1,"method":"notifications/cancelled"}`,
      `{"method":"tools/call","params":{"x":"notifications/cancelled"}}`,
      `notifications/cancelled`
    ])
      assert.isUndefined(Notification.read(bytes(other), Notification.cancelled))
  })

  it.prop("are never found in a response", [Schema.String], ([text]) => {
    const response = bytes(
      Json.write({ jsonrpc: "2.0", id: 1n, result: `notifications/progress ${text.toWellFormed()}` })
    )
    assert.isUndefined(Notification.read(response, Notification.progress))
    assert.isTrue(Result.isSuccess(Json.parse(new TextDecoder().decode(response))))
  })
})
