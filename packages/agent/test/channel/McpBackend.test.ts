/** The tools of a local MCP server for a peer that speaks the contract's dialect alone. */
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { duplexPair } from "node:stream"
import { fileURLToPath } from "node:url"
import * as McpBackend from "../../src/channel/mcp/McpBackend.ts"
import * as RpcClient from "../../src/channel/rpc/RpcClient.ts"
import * as RpcServer from "../../src/channel/rpc/RpcServer.ts"

const server = fileURLToPath(new URL("../harness/McpServer.ts", import.meta.url))

const stage = Effect.gen(function* () {
  const backend = yield* McpBackend.make(`exec '${process.execPath}' '${server}'`, [])
  const [near, far] = duplexPair()
  let changes = 0
  yield* Effect.forkScoped(
    RpcServer.serve(far, {
      tools: backend.tools,
      caller: { noiseKey: new Uint8Array(32), rights: "rw" },
      onToolsChanged: backend.onChange,
      prepare: backend.begin,
      inFrames: () => Effect.die("a peer that does not ask for frames gets them")
    })
  )
  const client = RpcClient.make(near, () => void changes++)
  const ask = (method: string, params: { readonly [key: string]: string | object }) =>
    Effect.map(client.request(method, params as never), (reply) =>
      Result.match(Envelope.readResponse(reply), {
        onSuccess: (result): unknown => result,
        onFailure: ({ reason }): unknown => reason
      })
    )
  return {
    client,
    changes: () => changes,
    ask,
    call: (name: string, args = {}) => ask("tools/call", { name, arguments: args }),
    names: Effect.map(ask("tools/list", {}), (result) =>
      (result as { tools: ReadonlyArray<{ name: string }> }).tools.map(({ name }) => name)
    )
  }
})

describe("a peer without frames", () => {
  it.live("lists and calls the tools of a server, and is told of new ones once it asks for notifications", () =>
    Effect.gen(function* () {
      const { call, changes, client, names } = yield* stage
      assert.includeMembers(yield* names, ["whoami", "fail", "slow"])
      assert.deepInclude(yield* call("fail"), { isError: true })
      yield* client.initialize
      yield* call("grow")
      yield* Effect.promise(() => eventually(() => changes() > 0, "the peer is told"))
      assert.include(yield* names, "grown")
    })
  )

  it.live("gets an error instead of an answer of more than 65,535 bytes", () =>
    Effect.gen(function* () {
      const { call } = yield* stage
      assert.include(String(yield* call("huge-8")), "more than 65535")
    })
  )

  it.live("keeps its list while a server that has ended is started again, and calls it then", () =>
    Effect.gen(function* () {
      const { call, names } = yield* stage
      const before = JSON.stringify(yield* call("whoami"))
      assert.include(String(yield* call("crash")), "is being restarted")
      assert.include(String(yield* call("whoami")), "is being restarted")
      assert.include(yield* names, "whoami")
      yield* Effect.promise(() =>
        eventually(async () => typeof (await Effect.runPromise(call("whoami"))) === "object", "the server is back")
      )
      assert.notStrictEqual(JSON.stringify(yield* call("whoami")), before)
    })
  )
})
