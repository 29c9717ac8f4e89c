/** MCP servers that misbehave behind an endpoint: what the caller hears, what is logged, and which processes remain. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Endpoint from "./Endpoint.ts"

/** Answers the first line, and reads on until its input ends. */
const answering = `read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"good":true}}'; cat >/dev/null`

const isAlive = (file: string) => {
  try {
    return process.kill(Number(readFileSync(file, "utf8")), 0)
  } catch {
    return false
  }
}

/** Opens a session: the answer to `initialize`, and the field that names the session. */
const begin = async (endpoint: Endpoint.Endpoint) => {
  const response = await Endpoint.send(endpoint, { body: Endpoint.initialize() })
  return {
    status: response.status,
    said: await response.text(),
    field: { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" }
  }
}
const call = (name: string) => ({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: {} } })

describe("a server behind an endpoint", () => {
  it.live(
    "that prints garbage and writes a megabyte on stderr is used all the same, and each line left out is logged",
    () =>
      Effect.gen(function* () {
        const garbage = `echo 'Listening ...'; echo '[1]'; echo '{"id":'; head -c 1000000 /dev/zero | tr '\\0' x >&2`
        const endpoint = yield* Endpoint.open(`${garbage}; ${answering}`)
        yield* Effect.promise(async () => {
          assert.include((await begin(endpoint)).said, '"good":true')
          const left = () => endpoint.logged.filter((line) => line.includes("a line of the MCP server was left out"))
          await eventually(() => left().length === 2, "two lines are named")
        })
      })
  )

  it.live("that dies in a call answers it with its exit code and its last words, and its session is over", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(`read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'
        while read -r line; do case "$line" in *tools/call*) echo 'disk full' >&2; exit 9;; esac; done`)
      yield* Effect.promise(async () => {
        const { field } = await begin(endpoint)
        const answer = await Endpoint.send(endpoint, { body: call("write"), headers: field })
        assert.strictEqual(answer.status, 200)
        assert.include(await answer.text(), "the MCP server ended with 9: disk full")
        const after = await Endpoint.send(endpoint, { body: call("write"), headers: field })
        assert.deepStrictEqual([after.status, (await after.text()).includes("The session has ended")], [404, true])
        await eventually(
          () => endpoint.logged.some((line) => line.includes("the MCP server ended with 9: disk full")),
          "the end is logged"
        )
        // The next session has a new process.
        assert.strictEqual((await begin(endpoint)).status, 200)
      })
    })
  )

  it.live("that forks and ignores SIGTERM is gone with all that it has started when its client leaves", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(`trap '' TERM; (trap '' TERM; sleep 600) & echo $! > child; echo $$ > own
        read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; while :; do sleep 0.1; done`)
      const files = ["own", "child"].map((name) => join(endpoint.folder, name))
      yield* Effect.promise(async () => {
        const { field } = await begin(endpoint)
        assert.deepStrictEqual(files.map(isAlive), [true, true])
        assert.strictEqual((await Endpoint.send(endpoint, { method: "DELETE", headers: field })).status, 204)
        await eventually(() => !files.some(isAlive), "both are gone")
      })
    })
  )

  it.live("that starts slowly is waited for, on a stream that is open meanwhile", () =>
    Effect.gen(function* () {
      const before = { ...Scheduler }
      const begin = before.setTimeout
      // The time after which a response becomes a stream has passed at once.
      Object.assign(Scheduler, { setTimeout: (task: () => void) => begin(task, 0) })
      yield* Effect.addFinalizer(() => Effect.sync(() => void Object.assign(Scheduler, before)))
      const endpoint = yield* Endpoint.open(`while [ ! -e ready ]; do sleep 0.05; done; ${answering}`)
      yield* Effect.promise(async () => {
        const response = await Endpoint.send(endpoint, { body: Endpoint.initialize() })
        assert.deepStrictEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream"])
        writeFileSync(join(endpoint.folder, "ready"), "")
        assert.include(await response.text(), '"good":true')
      })
    })
  )

  it.live("that needs a variable says so where it is not allowed, and gets it where it is", () =>
    Effect.gen(function* () {
      process.env["NEEDED"] = "here"
      yield* Effect.addFinalizer(() => Effect.sync(() => void delete process.env["NEEDED"]))
      const needy = `[ -n "$NEEDED" ] || { echo 'NEEDED is not set' >&2; exit 2; }; ${answering}`
      const without = yield* Endpoint.open(needy)
      const allowed = yield* Endpoint.open(needy, { passes: ["NEEDED"] })
      yield* Effect.promise(async () => {
        assert.include((await begin(without)).said, "the MCP server ended with 2: NEEDED is not set")
        assert.include((await begin(allowed)).said, '"good":true')
      })
    })
  )

  it.live("that all callers share and that ends is started again for the next", () =>
    Effect.gen(function* () {
      const endpoint = yield* Endpoint.open(Endpoint.tools, { isShared: true })
      const { client } = yield* Endpoint.client(endpoint)
      const other = yield* Endpoint.client(endpoint, { token: "bob" })
      yield* Effect.promise(async () => {
        const crash = await client.callTool({ name: "crash", arguments: {} })
        assert.include(JSON.stringify(crash), "the MCP server ended with 3")
        const failed = await other.client.callTool({ name: "whoami", arguments: {} }).catch(String)
        assert.include(String(failed), "session has ended")
      })
      const { client: again } = yield* Endpoint.client(endpoint)
      yield* Effect.promise(async () => {
        assert.match(JSON.stringify(await again.callTool({ name: "whoami", arguments: {} })), /"text":"\d+"/u)
      })
    })
  )
})
