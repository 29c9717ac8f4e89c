/** One real member serves, another one calls: what stdout and the exit codes are, through a scripted edge. */
import { type Agent, isAlive, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"

type Raw = Readonly<Record<string, string>>

/** A serving member with these variables, and callers for it. */
const stage = async (serving: Raw) => {
  const authority = makeAuthority()
  const channel = makeChannel()
  const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
  const script = { authority, channel, members: [initiator, acceptor] }
  const broker = await startBroker(script)
  const home = await makeHome()
  const agents: Array<Agent> = []
  const run = (env: Raw, input?: string | null) => {
    const agent = runAgent(home, env, ["channel"], input)
    agents.push(agent)
    return agent
  }
  const server = run({ ...throughFrontDoor(broker, script, acceptor), CT_CHANNEL_SERVE: "1", ...serving })
  return {
    server,
    broker,
    home,
    call: async (env: Raw, input = "") => {
      const caller = run({ ...throughFrontDoor(broker, script, initiator), ...env }, input)
      const code = await caller.exited
      return { code, stdout: caller.stdout(), said: caller.lines.join("\n") }
    },
    start: (env: Raw, input?: string | null) => run({ ...throughFrontDoor(broker, script, initiator), ...env }, input),
    [Symbol.asyncDispose]: async () => {
      for (const agent of agents) await agent[Symbol.asyncDispose]()
      await broker[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    }
  }
}

const service = (slug: string) => ({ CT_CHANNEL_CALL_SERVICE: slug })

describe("a serving member", () => {
  it("answers calls of a service by its command, byte for byte, one caller after the other", async () => {
    await using it = await stage({
      CT_AGENT_SERVICE_HANDLER_CMD: `printf '%s\\n\\n' "  $CT_SERVICE_TYPE: $(cat | tr a-z A-Z)"; echo seen >&2`,
      CT_AGENT_SERVICES: "text_generation, My Tool"
    })
    const answered = await it.call(service("text_generation"), "\n  grüße\n")
    assert.deepStrictEqual([answered.code, answered.stdout], [0, "text_generation: GRüßE\n"])
    assert.strictEqual((await it.call(service("my_tool"), "x")).stdout, "my_tool: X\n")
    const { code, said, stdout } = await it.call(service("other"), "x")
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.include(said, "unknown tool: service/other")
    await it.server.said("text_generation: seen")
  })

  it("replies to any method whole, with exit code 2 for an error in the reply", async () => {
    await using it = await stage({})
    const list = await it.call({ CT_CHANNEL_CALL: "tools/list" })
    assert.deepStrictEqual(
      [list.code, list.stdout],
      [0, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"ping","description":"Answers pong."}]}}\n`]
    )
    const ping = await it.call({
      CT_CHANNEL_CALL: "tools/call",
      CT_CHANNEL_CALL_PARAMS: `{"name":"ping","arguments":{}}`
    })
    assert.deepStrictEqual([ping.code, ping.stdout], [0, `{"jsonrpc":"2.0","id":1,"result":{"reply":"pong"}}\n`])
    const wrong = await it.call({ CT_CHANNEL_CALL: "nope" })
    assert.strictEqual(wrong.code, 2)
    assert.strictEqual(JSON.parse(wrong.stdout).error.code, -32_601)
    const unread = await it.call({ CT_CHANNEL_CALL: "tools/call", CT_CHANNEL_CALL_PARAMS: "{" })
    assert.deepStrictEqual([unread.code, unread.stdout], [3, ""])
    assert.include(unread.said, "CT_CHANNEL_CALL_PARAMS is not a JSON value")
  })

  it("fails a call whose command fails, prints nothing or cannot be started, and shows the end of stderr without secrets", async () => {
    const secret = "ab".repeat(32)
    await using it = await stage({
      CT_AGENT_SERVICE_HANDLER_CMD: `case "$(cat)" in fail) echo "key ${secret}" >&2; exit 3;; *) exit 0;; esac`,
      CT_AGENT_SERVICES: "a"
    })
    const failed = await it.call(service("a"), "fail")
    assert.deepStrictEqual([failed.code, failed.stdout], [1, ""])
    assert.include(failed.said, "exited with 3: key <hex>")
    assert.include((await it.call(service("a"), "quiet")).said, "printed nothing")
    assert.notInclude([...it.server.lines].join("\n"), secret)
  })

  it("gives its command no variable of its own, and those that are named", async () => {
    await using it = await stage({
      CT_AGENT_SERVICE_HANDLER_CMD: "cat >/dev/null; env | cut -d= -f1 | sort | tr '\\n' ' '",
      CT_AGENT_SERVICES: "a",
      CT_AGENT_HANDLER_ENV: "API_BASE",
      API_BASE: "https://api.example.net",
      OTHER_SECRET: "s3cret"
    })
    const names = (await it.call(service("a"), "x")).stdout.trim().split(" ")
    assert.includeMembers(names, ["PATH", "HOME", "API_BASE", "CT_SERVICE_TYPE"])
    assert.deepStrictEqual(
      names.filter((name) => /^CT_(?!SERVICE_TYPE$)|SECRET/.test(name)),
      []
    )
  })

  it("ends the whole group of a command whose caller has gone", async () => {
    await using it = await stage({
      CT_AGENT_SERVICE_HANDLER_CMD: "sleep 600 & echo $! > sleeper; wait",
      CT_AGENT_SERVICES: "a"
    })
    const caller = it.start(service("a"), "x")
    const pid = async () => Number(await readFile(`${it.home.path}/sleeper`, "utf8").catch(() => "0"))
    await eventually(async () => (await pid()) > 0, "the command runs")
    const sleeper = await pid()
    caller.kill("SIGKILL")
    await eventually(() => !isAlive(sleeper), "all it has started is gone")
  })

  it("refuses a request that no frame carries before it is sent", async () => {
    await using it = await stage({ CT_AGENT_SERVICE_HANDLER_CMD: "cat", CT_AGENT_SERVICES: "a" })
    const long = await it.call(service("a"), "x".repeat(65_536))
    assert.deepStrictEqual([long.code, long.stdout], [1, ""])
    assert.include(long.said, "a channel carries 65535")
    const fits = await it.call(service("a"), "x".repeat(30_000))
    assert.deepStrictEqual([fits.code, fits.stdout.length], [0, 30_001])
    const answer = await it.call(service("a"), "\u0001".repeat(10_900))
    assert.deepStrictEqual([answer.code, answer.stdout.length], [0, 10_901])
  })

  it("sends all that a stream handler says that does not read what it is sent", async () => {
    await using it = await stage({
      CT_AGENT_STREAM_HANDLER_CMD: "exec 0<&-; sleep 0.3; seq 1 20000",
      CT_AGENT_STREAM_SERVICE: "count"
    })
    const expected = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("")
    for (const bytes of ["x", "x".repeat(1_000_000)]) {
      const { code, said, stdout } = await it.call({}, bytes)
      assert.deepStrictEqual([code, stdout.length], [0, expected.length], `${bytes.length} bytes: ${said}`)
    }
  })

  it("sends all that a stream handler says that ends before its caller does", async () => {
    await using it = await stage({ CT_AGENT_STREAM_HANDLER_CMD: "seq 1 200000", CT_AGENT_STREAM_SERVICE: "count" })
    const expected = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join("")
    const caller = it.start({}, null)
    caller.type("x".repeat(1_000_000))
    await eventually(() => caller.stdout().length >= expected.length, "all of it has come")
    caller.endInput()
    assert.strictEqual(await caller.exited, 0, caller.lines.join("\n"))
    assert.strictEqual(caller.stdout(), expected)
  })

  it("gives a stream handler the raw bytes of each session, and no tool", async () => {
    await using it = await stage({
      CT_AGENT_STREAM_HANDLER_CMD: `echo "$CT_SERVICE_TYPE"; cat`,
      CT_AGENT_STREAM_SERVICE: "Echo 1"
    })
    for (const bytes of ["one", "two"]) {
      const { code, stdout } = await it.call({}, bytes)
      assert.deepStrictEqual([code, stdout], [0, `Echo 1\n${bytes}`])
    }
  })
})
