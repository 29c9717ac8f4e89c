/** The endpoint of a stdio MCP server, called by the official SDK and by hand. */
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
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

describe.each(["2025-11-25", "2026-07-28"])("MCP %s over HTTP", (revision) => {
  it.live("passes every feature between the official client and the official server", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.features)
      const [logged, updated]: [Array<unknown>, Array<string>] = [[], []]
      const { client } = yield* Endpoint.client(endpoint, {
        revision,
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
        prepare: (made) => {
          made.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }))
          made.setRequestHandler("sampling/createMessage", () => ({
            model: "m",
            role: "assistant",
            content: { type: "text", text: "thought" }
          }))
          made.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///home" }] }))
          made.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data))
          made.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri))
        }
      })
      yield* Effect.promise(async () => {
        assert.strictEqual(client.getNegotiatedProtocolVersion(), revision)
        assert.strictEqual(client.getInstructions(), "Ask before you look.")
        const weather = await client.callTool({ name: "weather", arguments: { city: "Bern" } })
        assert.deepStrictEqual(weather.structuredContent, { sky: "clear" })
        assert.strictEqual(textOf(await client.callTool({ name: "ask", arguments: {} })), "Ada,thought,file:///home")
        const { contents } = await client.readResource({ uri: "note://one" })
        assert.strictEqual((contents[0] as { blob: string }).blob.length, 12 * 1024 * 1024)
        const ref = { type: "ref/resource" as const, uri: "note://of/{name}" }
        assert.deepStrictEqual(
          (await client.complete({ ref, argument: { name: "name", value: "al" } })).completion.values,
          ["alan"]
        )
        const { messages } = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } })
        assert.deepStrictEqual(messages[0]?.content, { type: "text", text: "Greet Ada." })
        const isModern = revision >= "2026"
        if (isModern) await client.listen({ resourceSubscriptions: ["note://one"] })
        else {
          await client.setLoggingLevel("warning")
          await client.subscribeResource({ uri: "note://one" })
        }
        const _meta = isModern ? { "io.modelcontextprotocol/logLevel": "warning" } : {}
        await client.callTool({ name: "log", arguments: {}, _meta })
        await client.callTool({ name: "update", arguments: {} })
        await eventually(() => logged.length > 0 && updated.length > 0, "both notifications come")
        assert.deepStrictEqual([logged, updated], [["it rains"], ["note://one"]])
      })
    })
  )
})

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
