/** The endpoint of a stdio MCP server, called by the official SDK and by hand. */
import { eventually } from "@catenet/testing/Eventually"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import * as McpProbes from "../harness/McpProbes.ts"
import * as Endpoint from "./Endpoint.ts"

const textOf = (result: unknown) => (result as { content: ReadonlyArray<{ text: string }> }).content[0]?.text ?? ""

/** Whether a process is there. */
const isAlive = (pid: string) => {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

/** The events of a response so far, and how to have it go on until one fits. */
const eventsOf = (response: Response) => {
  const reader = (response.body ?? assert.fail("no body")).pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  const all = () =>
    text
      .split("\n\n")
      .slice(0, -1)
      .map((event) => ({
        id: /^id: (.*)$/mu.exec(event)?.[1] ?? "",
        data: /^data: (.*)$/mu.exec(event)?.[1] ?? ""
      }))
  return {
    until: async (holds: (data: string) => boolean) => {
      while (!all().some(({ data }) => holds(data))) {
        const { done, value } = await reader.read()
        if (done) assert.fail(`the stream has ended: ${text}`)
        text += value
      }
      return all()
    },
    cut: () => reader.cancel()
  }
}

const call = (id: number, name: string, more: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...more }
})

describe.each(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
  "MCP %s over HTTP",
  (revision) => {
    let session: McpProbes.Connected
    const scope = Scope.makeUnsafe()
    beforeAll(async () => {
      const endpoint = await Effect.runPromise(Scope.provide(Endpoint.open(Endpoint.features), scope))
      session = await McpProbes.connectedBy(revision, Endpoint.transport(endpoint, revision) as never)
    })
    afterAll(async () => {
      await session?.client.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    })

    it("is negotiated between the two", () => {
      assert.strictEqual(session.client.getNegotiatedProtocolVersion(), revision)
    })

    it.each(McpProbes.column("address"))("%s", (_, feature, passes) => McpProbes.tried(session, feature, passes))
  }
)

describe("a session of an MCP endpoint", () => {
  it.live("is its caller's alone, has a process of its own, and ends with it", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools)
      const pid = async ({ client }: Effect.Success<ReturnType<typeof Endpoint.client>>) =>
        textOf(await client.callTool({ name: "whoami", arguments: {} }))
      const [one, two] = [yield* Endpoint.client(endpoint), yield* Endpoint.client(endpoint, { token: "bob" })]
      yield* Effect.promise(async () => {
        const [first, second] = [await pid(one), await pid(two)]
        assert.notStrictEqual(first, second)
        const field = { "mcp-session-id": one.transport.sessionId ?? "" }
        const foreign = await Endpoint.send(endpoint, { body: call(9, "whoami"), headers: field, token: "bob" })
        assert.strictEqual(foreign.status, 404)
        await one.transport.terminateSession()
        await eventually(() => !isAlive(first), "the process has ended")
        const ended = await Endpoint.send(endpoint, { body: call(9, "whoami"), headers: field })
        assert.strictEqual(ended.status, 404)
        const crashed = { "mcp-session-id": two.transport.sessionId ?? "" }
        const crash = await two.client.callTool({ name: "crash", arguments: {} })
        assert.include(textOf(crash), "the MCP server ended with 3")
        const after = await Endpoint.send(endpoint, { body: call(9, "whoami"), headers: crashed, token: "bob" })
        assert.strictEqual(after.status, 404)
      })
    })
  )

  it.live(
    "sends what a client has missed after the last event that it names, and ends the stream with the answer",
    () =>
      Effect.gen(function* () {
        const endpoint = yield* Endpoint.open(Endpoint.tools)
        yield* Effect.promise(async () => {
          const field = await Endpoint.session(endpoint)
          const asked = call(2, "slow", { _meta: { progressToken: "p" } })
          const first = eventsOf(await Endpoint.send(endpoint, { body: asked, headers: field }))
          const seen = await first.until((data) => data.includes("notifications/progress"))
          await first.cut()
          const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } }
          await Endpoint.send(endpoint, { body: cancel, headers: field })
          const again = async (lastEventId: string) =>
            Endpoint.send(endpoint, { method: "GET", headers: { ...field, "last-event-id": lastEventId } })
          // From the first event on, which has no message.
          const second = eventsOf(await again(seen[0]?.id ?? ""))
          assert.strictEqual((await second.until((data) => data.includes("progress"))).length, 1)
          await second.cut()
          assert.strictEqual((await again("1-999")).status, 400)
          assert.strictEqual((await again("x")).status, 400)
          const listening = eventsOf(await Endpoint.send(endpoint, { method: "GET", headers: field }))
          await Endpoint.send(endpoint, { body: call(4, "grow"), headers: field })
          await listening.until((data) => data.includes("notifications/tools/list_changed"))
          await listening.cut()
        })
      })
  )

  it.live("tells why its server does not start, and is gone", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open("echo 'no such tool' >&2; exit 7")
      yield* Effect.promise(async () => {
        const response = await Endpoint.send(endpoint, { body: Endpoint.initialize() })
        assert.include(await response.text(), "the MCP server ended with 7: no such tool")
        const field = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" }
        assert.strictEqual((await Endpoint.send(endpoint, { body: call(2, "a"), headers: field })).status, 404)
      })
    })
  )

  it.live(
    "passes a list of a thousand tools, and requests that this program does not know, such as those of tasks",
    () =>
      Effect.gen(function* () {
        const { client } = yield* Endpoint.client(yield* Endpoint.open(Endpoint.tools))
        const other = yield* Endpoint.open(`exec '${process.execPath}' -e '
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { method, params } }))
})'`)
        yield* Effect.promise(async () => {
          await client.callTool({ name: "multiply", arguments: {} })
          assert.isAbove((await client.listTools()).tools.length, 1000)
          for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
            const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" }
            const params = { taskId: "t1", _meta, unknown: [1.5, "é"] }
            const body = { jsonrpc: "2.0", id: 7, method, params }
            const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": "t1" }
            const answer = await Endpoint.send(other, { body, headers })
            assert.deepStrictEqual(await answer.json(), { jsonrpc: "2.0", id: 7, result: { method, params } })
          }
        })
      })
  )

  it.live("is offered to clients of the transport of 2024-11-05, too", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools)
      const client = yield* Endpoint.oldClient(endpoint)
      yield* Effect.promise(async () => {
        const pid = textOf(await client.callTool({ name: "whoami", arguments: {} }))
        assert.isTrue(isAlive(pid))
        await client.close()
        await eventually(() => !isAlive(pid), "the process has ended with the connection")
      })
    })
  )
})

it.live("one process serves all callers where they share it, each with its own ids and progress", () =>
  Effect.gen(function* () {
    const endpoint = yield* Endpoint.open(Endpoint.tools, { isShared: true })
    const clients = [yield* Endpoint.client(endpoint), yield* Endpoint.client(endpoint, { token: "bob" })]
    yield* Effect.promise(async () => {
      const pids = clients.map(async ({ client }) => textOf(await client.callTool({ name: "whoami", arguments: {} })))
      assert.strictEqual(new Set(await Promise.all(pids)).size, 1)
      const fields = [await Endpoint.session(endpoint), await Endpoint.session(endpoint, "bob")]
      // The same id and the same token at the same time.
      const asked = call(5, "slow", { _meta: { progressToken: 7 } })
      const streams = [
        eventsOf(await Endpoint.send(endpoint, { body: asked, headers: fields[0] ?? {} })),
        eventsOf(await Endpoint.send(endpoint, { body: asked, headers: fields[1] ?? {}, token: "bob" }))
      ]
      for (const stream of streams) {
        const events = await stream.until((data) => data.includes("notifications/progress"))
        const messages = events.filter(({ data }) => data !== "")
        assert.strictEqual(messages.length, 1)
        assert.strictEqual(JSON.parse(messages[0]?.data ?? "").params.progressToken, 7)
        await stream.cut()
      }
    })
  })
)
