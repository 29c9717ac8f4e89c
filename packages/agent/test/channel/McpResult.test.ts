import * as Json from "@catenet/crypto/Json"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { once } from "node:events"
import { PassThrough, Writable } from "node:stream"
import { listed, resultOf, versionFor } from "../../src/channel/mcp/McpResult.ts"
import { longestLine, readLines, type Unreadable, writeLine } from "../../src/channel/mcp/StdioTransport.ts"
import * as Notification from "../../src/channel/rpc/Notification.ts"

const collect = () => {
  const stream = new PassThrough()
  const messages: Array<unknown> = []
  const batches: Array<unknown> = []
  const refused: Array<Unreadable> = []
  readLines(stream, {
    onMessage: (message) => messages.push(message),
    onBatch: (batch) => batches.push(batch),
    onUnreadable: (line) => refused.push(line)
  })
  return { stream, messages, batches, refused }
}

describe("messages of local MCP programs", () => {
  it.prop(
    "are read whole however they are cut, and other lines are named and left out",
    [Schema.Array(Schema.String), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))],
    ([texts, size]) => {
      const { batches, messages, refused, stream } = collect()
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
        writeLine(written, [{ text: text.toWellFormed() }])
      }
      const bytes = Buffer.concat(chunks)
      for (let at = 0; at < bytes.length; at += size) stream.emit("data", bytes.subarray(at, at + size))
      const expected = texts.map((text) => ({ text: text.toWellFormed() }))
      assert.deepStrictEqual(messages, expected)
      assert.deepStrictEqual(
        batches,
        expected.map((each) => [each])
      )
      assert.lengthOf(refused, texts.length)
    }
  )

  it("are read to the limit of a line and not a byte beyond, and the next one is read all the same", () => {
    const { messages, refused, stream } = collect()
    const line = (length: number, rest = "") => {
      const frame = `{"params":{"id":1,"x":"\\"}{${rest}`
      return `${frame}${"a".repeat(length - frame.length - 11)}"},"id":70}`
    }
    stream.emit("data", Buffer.from(`${line(longestLine)}\n`))
    assert.lengthOf(messages, 1)
    const long = Buffer.from(`${line(longestLine + 1)}\n{"id":8}\n`)
    for (let at = 0; at < long.length; at += 65_536) stream.emit("data", long.subarray(at, at + 65_536))
    assert.deepStrictEqual(messages.slice(1), [{ id: 8n }])
    assert.lengthOf(refused, 1)
    assert.deepInclude(refused[0], { id: 70n, isTooLong: true, isRequest: false })
    assert.include(refused[0]?.why, "longer than 16777216 bytes")
  })

  it("that cannot be read keep their id, wherever it is in them", () => {
    const { refused, stream } = collect()
    const lines = [
      [`{"jsonrpc":"2.0","id":5,"method":"m","params":{"id":6,"x":[{"id":7}]},}`, 5n, true],
      [`{"params":{"text":"\\ud800","id":9},"method" : "m", "id" : "a \\"b" }`, 'a "b', true],
      [`{"result":{"deep":"\\ud800"},"id":3}`, 3n, false],
      [`{"id":{"id":4},"x"}`, undefined, false],
      [`{"id":[1],"method":1,}`, undefined, true],
      [`]}]{"id":1}`, undefined, false],
      ["7", undefined, false]
    ] as const
    for (const [line, id, isRequest] of lines) {
      stream.emit("data", Buffer.from(`${line}\n`))
      const { why, ...found } = refused.at(-1) ?? assert.fail(line)
      assert.deepStrictEqual(found, { id, isRequest, isTooLong: false }, line)
      assert.isNotEmpty(why)
    }
    assert.lengthOf(refused, lines.length)
  })

  it("count at the end of a stream without a line feed", async () => {
    const { messages, stream } = collect()
    stream.end('{"id":1}')
    await once(stream, "end")
    assert.deepStrictEqual(messages, [{ id: 1n }])
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
