/** What a peer may do, by the rights and until the end of its grant, as the acknowledgement names them. */
import type { Rights } from "@catenet/crypto/Permission"
import { readRequest } from "@catenet/crypto/rpc/Envelope"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as RpcDispatch from "../../src/channel/rpc/RpcDispatch.ts"
import { type Tool, ToolFailed } from "../../src/channel/rpc/Tool.ts"

describe("the rights of a caller", () => {
  const ran: Array<string> = []
  const tool = (name: string, isReadOnly: boolean, reason?: string): Tool => ({
    name,
    description: "",
    isReadOnly,
    run: (_, __, report) => {
      ran.push(name)
      report?.({ progress: 1 })
      return reason === undefined ? Effect.succeed("a result") : Effect.fail(new ToolFailed({ reason }))
    }
  })
  const tools = [tool("look", true), tool("change", false), tool("fail", false, "a secret")]
  const reports: Array<unknown> = []
  const ask = async (rights: Rights, method: string, params?: object) => {
    const request = readRequest(new TextEncoder().encode(JSON.stringify({ id: 1, method, params })))
    const caller = { noiseKey: new Uint8Array(32), rights }
    const bytes = await Effect.runPromise(
      RpcDispatch.respond(request, tools, caller, (progress) => reports.push(progress))
    )
    const { error, result } = JSON.parse(new TextDecoder().decode(bytes))
    return error === undefined ? result : `${error.code} ${error.message}`
  }
  const call = (rights: Rights, name: string) => ask(rights, "tools/call", { name })

  it("decide which tools it may call, and whether it hears of results", async () => {
    for (const name of ["look", "change"]) assert.strictEqual(await call("rw", name), "a result")
    assert.strictEqual(await call("r", "look"), "a result")
    assert.include(
      await call("r", "change"),
      "-32000 change may change something. Your grant permits reading alone (r)"
    )
    assert.include(await call("r", "nothing"), "-32602")
    assert.deepStrictEqual(ran.splice(0), ["look", "change", "look"])
    reports.length = 0
    for (const name of ["look", "change"]) assert.isNull(await call("w", name))
    assert.strictEqual(await call("w", "fail"), "-32000 the tool failed")
    assert.deepStrictEqual(ran.splice(0), ["look", "change", "fail"])
    assert.deepStrictEqual(reports, [])
    assert.include(await ask("w", "tools/list"), "Your grant permits writing alone (w)")
    for (const rights of ["r", "rw"] as const) assert.lengthOf((await ask(rights, "tools/list")).tools, 3)
    for (const rights of ["r", "w", "rw"] as const)
      assert.strictEqual((await ask(rights, "initialize")).protocolVersion, "2024-11-05")
  })
})

describe("two members", () => {
  const meet = async (fields: string, own: { readonly rights?: Rights } = {}) => {
    const authority = makeAuthority()
    const channel = makeChannel()
    const members = [channel.member("initiate", own), channel.member("accept")] as const
    const script = { authority, channel, members, line: (line: string) => line.replace("\n", ` ${fields}\n`) }
    const broker = await startBroker(script)
    const home = await makeHome()
    const env = (at: 0 | 1) => throughFrontDoor(broker, script, members[at])
    const leave = async () => {
      await broker[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    }
    return { env, home, [Symbol.asyncDispose]: leave }
  }

  it("have no raw session when the grant of either permits one direction alone", async () => {
    await using it = await meet("pr=r")
    await using one = runAgent(it.home, it.env(0), ["channel"], "secret")
    await using two = runAgent(it.home, it.env(1), ["channel"], "secret")
    for (const agent of [one, two]) {
      assert.strictEqual(await agent.exited, 4, agent.lines.join("\n"))
      assert.strictEqual(agent.stdout(), "")
      assert.include(agent.lines.at(-1), "its grant permits r, and a raw stream needs rw. Ask the operator")
    }
    await using other = await meet("", { rights: "w" })
    await using own = runAgent(other.home, other.env(0), ["channel"], "secret")
    assert.strictEqual(await own.exited, 3)
    assert.include(own.lines.join("\n"), "CT_CHANNEL_GRANT permits w, and a session as raw bytes needs rw")
  })

  it("end their session when the peer's grant has expired, whatever carries it", async () => {
    const now = Effect.runSync(Clock.currentTimeMillis)
    await using it = await meet(`pr=rw pe=${Math.floor(now / 1000) + 6}`)
    await using one = runAgent(it.home, it.env(0), ["channel"], null)
    await using two = runAgent(it.home, it.env(1), ["channel"], null)
    await one.said("session with")
    assert.deepStrictEqual([await one.exited, await two.exited], [5, 5])
    const said = [...one.lines, ...two.lines].join("\n")
    assert.include(said, "the peer's grant has expired. The operator of the channel can give it a new one.")
  })
})
