/** The program on an older Node: a signal to the process that was started acts as on the program itself. */
import { type Home, makeHome } from "@catenet/testing/agent/Agent"
import { makeSurroundings } from "@catenet/testing/agent/Surroundings"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { echo, startOrigin } from "./harness/Origins.ts"

const script = fileURLToPath(new URL("harness/become.mjs", import.meta.url))

/** In a process group of its own, as a shell starts it. */
const launched = (how: string, home: Home, env: Readonly<Record<string, string>>, args: ReadonlyArray<string> = []) => {
  const started = spawn(process.execPath, [script, how, ...args], {
    cwd: home.path,
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      CATENET_TEST_AGENT: process.env["CATENET_TEST_AGENT"],
      ...env
    },
    stdio: ["pipe", "ignore", "pipe"],
    detached: true
  })
  const pid = started.pid ?? assert.fail("it did not start")
  const exited = once(started, "exit") as Promise<[number | null, NodeJS.Signals | null]>
  const lines: Array<string> = []
  const reader = createInterface({ input: started.stderr }).on("line", (line) => lines.push(line))
  return {
    pid,
    exited,
    lines,
    said: async (text: string) => {
      while (!lines.some((line) => line.includes(text))) await once(reader, "line")
    },
    [Symbol.asyncDispose]: async () => {
      started.kill("SIGKILL")
      await exited
    }
  }
}

/** A tunnel whose agent was launched, with a stream that waits for an answer. */
const serving = async (how: string) => {
  const stack = new AsyncDisposableStack()
  const stage = stack.use(await makeSurroundings())
  const origin = stack.use(await startOrigin(echo))
  const home = stack.use(await makeHome())
  const agent = stack.use(launched(how, home, { ...stage.env, CT_AGENT_ORIGIN: origin.address }))
  await agent.said("event: registered")
  const stream = await stage.edge.open()
  stream.on("error", () => {})
  stream.write("one")
  await once(stream, "readable")
  return { stage, agent, stream, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
}

describe.concurrent.each(["replaced", "child"])("a launched program (%s)", (how) => {
  it("gets a signal to its whole group once, and lets running streams finish", async () => {
    await using world = await serving(how)
    process.kill(-world.agent.pid, "SIGTERM")
    await world.agent.said("waiting up to 10 s for 1 streams")
    world.stream.end("two")
    const rest = Buffer.concat(await world.stream.toArray()).toString()
    assert.strictEqual(rest, "onetwo")
    assert.deepStrictEqual(await world.agent.exited, [0, null])
  })

  it("ends at a SIGINT to its pid", async () => {
    await using world = await serving(how)
    world.stream.destroy()
    process.kill(world.agent.pid, "SIGINT")
    assert.deepStrictEqual(await world.agent.exited, [0, null])
  })

  it("leaves nothing behind when it is killed", async () => {
    await using world = await serving(how)
    process.kill(world.agent.pid, "SIGKILL")
    assert.deepStrictEqual(await world.agent.exited, [null, "SIGKILL"])
    await world.stage.edge.until(() => world.stage.edge.sessions.size === 0)
  })

  it("dies of the signal that its program dies of", async () => {
    await using world = await serving(how)
    process.kill(world.agent.pid, "SIGQUIT")
    assert.deepStrictEqual(await world.agent.exited, [null, "SIGQUIT"])
  })
})
