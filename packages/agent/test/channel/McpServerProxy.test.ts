/** The serving side of MCP in frames, with commands that do what a server should not. */
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { duplexPair } from "node:stream"
import { FramedMessages, type PeerEnd } from "../../src/channel/mcp/FramedMessages.ts"
import * as McpServerProxy from "../../src/channel/mcp/McpServerProxy.ts"
import type { Caller, Tool } from "../../src/channel/rpc/Tool.ts"
import type { SessionCalls } from "../../src/channel/rpc/ToolCalls.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"

interface Answer {
  readonly id?: unknown
  readonly result?: Record<string, unknown> & { readonly tools?: ReadonlyArray<{ readonly name: string }> }
  readonly error?: { readonly code: number; readonly message: string }
}

const ping: Tool = { name: "ping", description: "", isReadOnly: true, run: () => Effect.succeed({ reply: "pong" }) }
const change: Tool = { name: "change", description: "", isReadOnly: false, run: () => Effect.succeed("changed") }

const temporaryFolder = temporaryFolders("catenet-mcp-")

/** A server that lists two tools, has one of a name of the member's, and answers every call with the request. */
const lister = `exec '${process.execPath}' -e '
const tools = [{ name: "look", annotations: { readOnlyHint: true } }, { name: "ping" }]
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line)
  const result = method === "tools/list" ? { tools } : { line }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }))
})'`

/** Calls that need no owner. */
const calls: SessionCalls = {
  begin: () => () => {},
  hasRules: false,
  needsOwner: () => false,
  allowed: () => Effect.void
}

const stage = Effect.fnUntraced(function* (line: string, rights: Caller["rights"] = "rw", isWanted = () => false) {
  const [near, far] = duplexPair()
  const answers: Array<Answer> = []
  let end: PeerEnd | undefined
  const messages = new FramedMessages(near, {
    onMessage: (_, line) => void answers.push(JSON.parse(Buffer.from(line).toString())),
    onEnd: (how) => void (end = how),
    onDrain: () => {}
  })
  const caller = { noiseKey: new Uint8Array(32), rights }
  const command = { line, service: "mcp", passes: ["NAMED"] }
  yield* Effect.forkScoped(McpServerProxy.serve(far, { command, own: [ping, change], caller, calls, isWanted }))
  const say = (message: object) => messages.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message })))
  let next = 0
  return {
    say,
    answers,
    ended: Effect.promise(async () => {
      await eventually(() => end !== undefined, "the session ends")
      return end?.why
    }),
    leave: Effect.suspend(() => messages.end("")),
    ask: (method: string, params: object = {}) =>
      Effect.promise(async () => {
        const id = ++next
        say({ id, method, params })
        const answer = () => answers.find((each) => each.id === id)
        await eventually(() => answer() !== undefined, `${method} is answered`)
        return answer()
      })
  }
})

const answering = `read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"good":true}}'; cat >/dev/null`

const isAlive = (file: string) => {
  try {
    return process.kill(Number(readFileSync(file, "utf8")), 0)
  } catch {
    return false
  }
}

describe("a command that serves MCP", () => {
  it.live("may print garbage on stdout, and a megabyte on stderr", () =>
    Effect.gen(function* () {
      const { ask } = yield* stage(`echo hello; head -c 1000000 /dev/zero | tr '\\0' x >&2; ${answering}`)
      assert.deepStrictEqual((yield* ask("tools/list"))?.result?.["good"], true)
    })
  )

  it.live("that ends during a call ends the session with its exit code and the last line of stderr", () =>
    Effect.gen(function* () {
      const { ended, say } = yield* stage("read -r line; echo first >&2; echo 'no such file' >&2; exit 3")
      say({ id: 1, method: "tools/list" })
      assert.strictEqual(yield* ended, "the MCP server ended with 3: no such file")
    })
  )

  it.live("that cannot be found says so in the session's end", () =>
    Effect.gen(function* () {
      const { ended } = yield* stage("no-such-command-here")
      assert.match((yield* ended) ?? "", /^the MCP server ended with 127: .*not found$/)
    })
  )

  it.live("that ends takes along what it has started in the background", () =>
    Effect.gen(function* () {
      const file = `${temporaryFolder()}/pid`
      const { ended, say } = yield* stage(`sleep 600 & echo $! > '${file}'; read -r line; exit 0`)
      say({ id: 1, method: "ping" })
      assert.strictEqual(yield* ended, "the MCP server ended with 0")
      yield* Effect.promise(() => eventually(() => !isAlive(file), "the background process is gone"))
    })
  )

  it.live("that ignores the end of its input and SIGTERM is killed", () =>
    Effect.gen(function* () {
      const file = `${temporaryFolder()}/pid`
      const { leave } = yield* stage(`trap '' TERM; echo $$ > '${file}'; while :; do sleep 0.1; done`)
      yield* Effect.promise(() => eventually(() => isAlive(file), "it runs"))
      yield* leave
      yield* Effect.promise(() => eventually(() => !isAlive(file), "it is gone"))
    })
  )

  it.live("has time to end in order when its input ends", () =>
    Effect.gen(function* () {
      const file = `${temporaryFolder()}/last`
      const { ask, leave } = yield* stage(`${answering}; echo saved > '${file}'`)
      yield* ask("ping")
      yield* leave
      yield* Effect.promise(() =>
        eventually(() => readFileSync(file, { encoding: "utf8", flag: "a+" }) === "saved\n", "it has saved")
      )
    })
  )
})

describe("a caller of an MCP server behind a channel", () => {
  it.live("sees the member's tools behind the server's, and calls each", () =>
    Effect.gen(function* () {
      const { ask } = yield* stage(lister)
      const call = (name: string) => ask("tools/call", { name, arguments: {} })
      assert.include(String((yield* call("ping"))?.result?.["line"]), "tools/call")
      const tools = (yield* ask("tools/list"))?.result?.tools?.map(({ name }) => name)
      assert.deepStrictEqual(tools, ["look", "ping", "agent/ping", "change"])
      assert.deepStrictEqual((yield* call("agent/ping"))?.result?.["structuredContent"], { reply: "pong" })
      assert.isUndefined((yield* call("agent/change"))?.error)
      assert.isUndefined((yield* call("change"))?.error)
    })
  )

  it.live(
    "has its opening passed as it is, in whichever revision, and is answered with the tools in the capabilities",
    () =>
      Effect.gen(function* () {
        const { ask } = yield* stage(lister)
        for (const method of ["initialize", "server/discover"]) {
          const answer = yield* ask(method, { protocolVersion: "2024-11-05", unknown: [1.5, "\u00e9"] })
          const sent = {
            jsonrpc: "2.0",
            id: answer?.id,
            method,
            params: { protocolVersion: "2024-11-05", unknown: [1.5, "\u00e9"] }
          }
          assert.strictEqual(answer?.result?.["line"], JSON.stringify(sent))
          assert.deepStrictEqual(answer?.result?.["capabilities"], { tools: {} })
        }
      })
  )

  it.live("of 2026-07-28 gets results that say that they are whole, and the list is asked for in that revision", () =>
    Effect.gen(function* () {
      const { ask } = yield* stage(lister)
      const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" }
      const ping = yield* ask("tools/call", { name: "agent/ping", arguments: {}, _meta })
      assert.deepInclude(ping?.result, { resultType: "complete" })
      assert.deepInclude((yield* ask("tools/list", { _meta }))?.result, {
        resultType: "complete",
        cacheScope: "private"
      })
    })
  )

  it.effect("that is silent for 300 s loses its place to one that waits, and to no other", () =>
    Effect.gen(function* () {
      let isWanted = false
      const { ask, ended } = yield* stage(lister, "rw", () => isWanted)
      yield* ask("ping")
      yield* TestClock.adjust("301 seconds")
      isWanted = true
      yield* ask("ping")
      yield* TestClock.adjust("299 seconds")
      yield* ask("ping")
      yield* TestClock.adjust("600 seconds")
      assert.strictEqual(yield* ended, McpServerProxy.idle)
    })
  )

  it.live("that may only read calls tools that change nothing, and its words are passed on without others", () =>
    Effect.gen(function* () {
      const { ask } = yield* stage(lister, "r")
      const looked = yield* ask("tools/call", { name: "look", arguments: { a: 1 }, Name: "ping" })
      assert.deepStrictEqual(JSON.parse(String(looked?.result?.["line"])).params, { name: "look", arguments: { a: 1 } })
      for (const name of ["ping", "change", "unknown"])
        assert.include((yield* ask("tools/call", { name }))?.error?.message, `${name} may change something`)
      assert.isUndefined((yield* ask("tools/call", { name: "agent/ping" }))?.error)
      assert.include((yield* ask("tasks/cancel"))?.error?.message, "tasks/cancel may change something")
    })
  )

  it.live("may call the member's own tools more often than requests may wait", () =>
    Effect.gen(function* () {
      const { answers, ask, say } = yield* stage(lister)
      yield* ask("tools/list")
      for (let batch = 1; batch <= 2; batch++) {
        for (let n = 0; n < 600; n++) say({ id: `${batch}:${n}`, method: "tools/call", params: { name: "agent/ping" } })
        yield* Effect.promise(() => eventually(() => answers.length === 1 + 600 * batch, "all are answered"))
      }
      assert.isEmpty(answers.filter(({ error }) => error !== undefined))
    })
  )

  it.live(`may have ${McpServerProxy.maxAsked} requests without an answer, and is refused the next`, () =>
    Effect.gen(function* () {
      const { answers, ask, say } = yield* stage("cat >/dev/null")
      for (let id = 1; id < McpServerProxy.maxAsked; id++) say({ id: `n${id}`, method: "ping" })
      say({ id: "catenet:1", method: "ping" })
      say({ id: "last", method: "ping" })
      assert.include((yield* ask("ping"))?.error?.message, "wait for an answer")
      assert.deepStrictEqual(
        answers.map(({ id }) => id),
        ["catenet:1", 1]
      )
      say({ method: "notifications/cancelled", params: { requestId: "last" } })
      say({ id: "next", method: "ping" })
      assert.include((yield* ask("ping"))?.error?.message, "wait for an answer")
      assert.notInclude(
        answers.map(({ id }) => id),
        "next"
      )
    })
  )
})
