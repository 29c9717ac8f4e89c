/** What the owner of a member sees of the calls of its tools, and has a say in. */
import { type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { readdirSync, readFileSync } from "node:fs"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import * as ToolCalls from "../../src/channel/rpc/ToolCalls.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { Events } from "../../src/observe/Events.ts"
import { Screen } from "../../src/terminal/Screen.ts"

const program = fileURLToPath(new URL("../harness/McpServer.ts", import.meta.url))

/** Events of a ring in memory, and a screen. */
const stage = Effect.fnUntraced(function* (rules: ReadonlyArray<string>) {
  const [lines, shown]: [Array<string>, Array<string>] = [[], []]
  const input = new PassThrough()
  const ring = {
    path: "",
    append: (line: string) => Effect.sync(() => void lines.push(...line.split("\n"))),
    last: () => Effect.succeed(lines),
    writeErrors: () => 0
  }
  const metrics = yield* AgentMetrics.make
  const screen = {
    json: false,
    colors: false,
    live: false,
    log: (line: string) => void shown.push(line),
    result: () => {},
    status: () => {}
  }
  const layer = Layer.mergeAll(
    Layer.succeed(AgentMetrics, metrics),
    Layer.succeed(Screen, screen),
    Layer.succeed(Events, { record: () => Effect.void, counts: () => new Map(), ring })
  )
  const calls = yield* Effect.provide(ToolCalls.make(rules, input), layer)
  return { calls, input, lines, shown, metrics }
})
const until = (condition: () => boolean, what: string) => Effect.promise(() => eventually(condition, what))
const outcomeOf = (calls: ToolCalls.SessionCalls, tool: string) =>
  Effect.match(ToolCalls.watched(calls, tool, { path: "/a" }, Effect.succeed("done")), {
    onSuccess: () => "done",
    onFailure: ({ reason }) => reason
  })

describe("a rule for tools", () => {
  it("names one tool, or with * those of a form", () => {
    for (const [rule, tool, isNamed] of [
      ["write_*", "write_file", true],
      ["write_*", "rewrite_file", false],
      ["*", "anything\nat all", true],
      ["a.b", "a.b", true],
      ["a.b", "axb", false],
      ["*file", "write_file", true]
    ] as const)
      assert.strictEqual(ToolCalls.matches(rule, tool), isNamed, `${rule} ${tool}`)
  })
})

describe("a call that a rule names", () => {
  it.effect("runs when the owner types its number, and no number of another question allows it", () =>
    Effect.gen(function* () {
      const { calls, input, lines, metrics, shown } = yield* stage(["write_*"])
      const peer = calls.by("ab".repeat(32))
      const results: Array<string> = []
      const call = (tool: string) => Effect.forkScoped(Effect.map(outcomeOf(peer, tool), (how) => results.push(how)))
      yield* call("write_a")
      yield* until(() => shown.length === 1, "the owner is asked")
      assert.include(shown[0], `abababababababab wants to call write_a {"path":"/a"}. Type 1 to allow it`)
      // Another question waits for this one's end.
      yield* call("write_b")
      yield* call("read")
      yield* until(() => results.includes("done"), "a tool without a rule runs at once")
      assert.lengthOf(shown, 1)
      input.write("2\n1\n")
      yield* until(() => results.length === 2, "the first is allowed")
      yield* until(() => shown.length === 2, "the second is asked")
      input.write("1\n")
      input.write("n\n")
      yield* until(() => results.length === 3, "the second is refused")
      assert.strictEqual(results[2], "write_b was refused by its owner.")
      yield* until(() => lines.length === 3, "all are events")
      const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.sameMembers(
        events.map(({ outcome, tool }) => `${String(tool)} ${String(outcome)}`),
        ["read ok", "write_a ok", "write_b refused"]
      )
      for (const { kind, peer: who } of events) assert.deepStrictEqual([kind, who], ["tool_call", "ab".repeat(32)])
      assert.notInclude(lines.join(), "path")
      assert.deepStrictEqual(Object.fromEntries(metrics.toolCalls.byOutcome), { ok: 2, refused: 1 })
    }).pipe(Effect.scoped)
  )

  it.effect("is refused after 60 s, and at once where nobody is at the terminal", () =>
    Effect.gen(function* () {
      const { calls, input, shown } = yield* stage(["*"])
      const results: Array<string> = []
      const call = Effect.forkScoped(Effect.map(outcomeOf(calls.by("a"), "run"), (how) => results.push(how)))
      yield* call
      yield* until(() => shown.length === 1, "the owner is asked")
      yield* TestClock.adjust("59 seconds")
      assert.isEmpty(results)
      yield* TestClock.adjust("1 second")
      yield* until(() => results.length === 1, "it is over")
      assert.include(results[0], "was not confirmed by its owner within 60 s")
      input.end()
      yield* until(() => input.readableEnded, "the terminal is gone")
      yield* call
      yield* until(() => results.length === 2, "it is refused")
      assert.include(results[1], "nobody is at the terminal")
    }).pipe(Effect.scoped)
  )

  it.effect("of one peer waits for that peer's own question alone", () =>
    Effect.gen(function* () {
      const { calls, input, shown } = yield* stage(["*"])
      const results: Array<string> = []
      for (const [peer, tool] of [
        ["flood", "first"],
        ["flood", "second"],
        ["flood", "third"],
        ["other", "fourth"]
      ] as const)
        yield* Effect.forkScoped(Effect.map(outcomeOf(calls.by(peer), tool), () => results.push(tool)))
      yield* until(() => shown.length === 1, "the first is asked")
      input.write("1\n")
      yield* until(() => shown.length === 2, "the next is asked")
      assert.include(shown[1], "call fourth ")
    }).pipe(Effect.scoped)
  )
})

describe("a call through a channel", () => {
  it("is an event and a count with its tool, time, size and outcome, and waits for the owner", async () => {
    const channel = makeChannel()
    const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
    const script = { authority: makeAuthority(), channel, members: [initiator, acceptor] }
    await using broker = await startBroker(script)
    await using home: Home = await makeHome()
    await using server = runAgent(
      home,
      { ...throughFrontDoor(broker, script, acceptor), CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" },
      [
        "channel",
        "serve",
        "--inspect",
        "--confirm",
        "secr*",
        "--mcp-command",
        `exec '${process.execPath}' '${program}'`
      ],
      null
    )
    const client = new Client({ name: "test", version: "1.0.0" })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [agentProgram, "channel", "mcp"],
        env: { PATH: process.env["PATH"] ?? "", HOME: home.path, ...throughFrontDoor(broker, script, initiator) },
        cwd: home.path,
        stderr: "ignore"
      })
    )
    await client.callTool({ name: "whoami", arguments: {} })
    await client.callTool({ name: "ping", arguments: { at: "the inspector" } })
    await client.callTool({ name: "fail", arguments: {} })
    const asked = client.callTool({ name: "secrets", arguments: {} })
    const [, number] = /Type (\d+) to allow/u.exec(await server.said("wants to call secrets")) ?? []
    server.type(`${number}\n`)
    assert.isUndefined((await asked).isError)
    const refused = client.callTool({ name: "secrets", arguments: {} })
    await server.said("Type 2 to allow")
    server.type("n\n")
    assert.include(JSON.stringify((await refused).content), "was refused by its owner")
    const base = /http:\/\/[^/]+/.exec(await server.said("status, metrics and events at"))?.[0] ?? ""
    const page = () => fetch(`${base}/metrics`).then((response) => response.text())
    await eventually(
      async () => (await page()).includes('ct_agent_tool_calls_total{outcome="ok"} 3'),
      "the calls are counted"
    )
    assert.include(await page(), 'ct_agent_tool_calls_total{outcome="refused"} 1')
    const ring = () => readFileSync(`${home.path}/.ct-agent/events.jsonl`, "utf8").split("\n")
    const calls = () => ring().filter((line) => line.includes('"tool_call"'))
    await eventually(() => calls().length === 5, "the calls are in the ring")
    const { bytes, millis, outcome, peer, tool } = JSON.parse(calls()[0] ?? "") as Record<string, unknown>
    assert.deepStrictEqual([tool, outcome, peer], ["whoami", "ok", Buffer.from(initiator.holder).toString("hex")])
    assert.isAbove(Number(bytes), 10)
    assert.isAtLeast(Number(millis), 0)
    const folder = `${home.path}/.ct-agent/inspect`
    const [file = ""] = readdirSync(folder)
    const { port, token } = JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as { port: number; token: string }
    const inspector = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
      return response.json() as Promise<unknown>
    }
    const { requests } = (await inspector("/api/requests")) as { requests: ReadonlyArray<Record<string, unknown>> }
    const seen = requests.toReversed().map(({ calls, client, state }) => [calls, client, state])
    assert.deepStrictEqual(
      seen,
      ["whoami", "ping", "fail", "secrets", "secrets"].map((name, n) => [
        [`tools/call ${name}`],
        peer,
        n === 4 ? "broken" : "complete"
      ])
    )
    const [last, , , ping] = requests
    assert.strictEqual(last?.["failure"], "The owner did not allow the call.")
    assert.include(JSON.stringify(await inspector(`/api/requests/${String(ping?.["id"])}`)), "the inspector")
    assert.notInclude(ring().join(), "the inspector")
    await client.close()
  })
})
