/** A machine without Node installs the agent from a running stack, serves, and updates itself while visitors come. */
import { type ChildProcess, spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { eventually } from "../../../domain/test/Eventually.ts"
import { httpOrigin } from "./Origins.ts"
import { BareMachine, ReleasedAgents } from "./ReleasedAgents.ts"
import { freePorts, Stack } from "./Stack.ts"
import { steadyVisitors } from "./SteadyVisitors.ts"
import { provision, type Tunnel } from "./Tunnel.ts"
import { ask } from "./Visitor.ts"

const visitorsASecond = 20

/** With a second agent and visitors all the time, which `npm run campaign` does. */
const inFull = process.env["CATENET_UPDATES"] === "1"

const isServed = (target: Tunnel["target"]) =>
  ask(target).then(
    ({ status }) => status === 200,
    () => false
  )

if (!BareMachine.possible) process.stderr.write("\nSKIPPED: the test of updates needs root and unshare on Linux.\n\n")

describe.skipIf(!BareMachine.possible)("an agent that updates itself", () => {
  let stack: Stack
  let releases: ReleasedAgents
  let machine: BareMachine
  const agents: Array<ChildProcess> = []

  beforeAll(async () => {
    stack = await Stack.make()
    releases = await ReleasedAgents.in(stack.folder)
    releases.publish("0.1.0")
    machine = new BareMachine(join(stack.folder, "machine"))
    await stack.up(["--no-demo"], { CT_CP_RELEASES_DIR: releases.folder, CT_CP_RELEASE_PUBKEY: releases.publicKey })
  })
  afterAll(async () => {
    for (const agent of agents) agent.kill("SIGKILL")
    await stack?.dispose()
    rmSync(stack.folder, { recursive: true, force: true })
  })

  interface Started {
    readonly child: ChildProcess
    readonly printed: () => string
    readonly version: () => Promise<string>
  }

  /** Starts the installed program with its own state, and waits until it is registered. */
  const start = async (variables: Readonly<Record<string, string>>, name: string): Promise<Started> => {
    const { mesh: port } = await freePorts()
    const { token } = (await (await stack.admin("POST", "/enroll/issue", { tenant: "tester" })).json()) as {
      token: string
    }
    const [command = "", ...args] = [...machine.inside, "/usr/local/bin/ct-agent"]
    const env = {
      ...variables,
      PATH: "/usr/bin:/bin",
      HOME: "/root",
      CT_AGENT_JOIN_TOKEN: token,
      CT_AGENT_STATE_DIR: `/var/lib/${name}`,
      CT_AGENT_EDGE_CERT: `/var/lib/${name}.der`,
      CT_AGENT_METRICS_LISTEN: `127.0.0.1:${port}`,
      CT_AGENT_AUTO_UPDATE: "1"
    }
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
    agents.push(child)
    let printed = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += String(text)))
    const status = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/status`)
      return (await response.json()) as { version: string; registered: boolean; update_state: string }
    }
    await eventually(
      async () => (await status().catch(() => undefined))?.registered === true,
      () => `${name} is registered: ${printed}`
    )
    const version = async () => {
      const said = await status().catch(() => undefined)
      return said?.registered === true ? said.version : ""
    }
    return { child, printed: () => printed, version }
  }

  /** Publishes a version and has the agent look for it. */
  const update = async (agent: Started, version: string) => {
    agent.child.kill("SIGHUP")
    await eventually(
      async () => (await agent.version()) === version,
      () => `${version}: ${agent.printed()}`
    )
  }

  /** What a visitor meets while the only agent is replaced: for how long none is served. */
  const refusalsDuring = async (target: Tunnel["target"], replaced: () => Promise<void>) => {
    let from = 0
    let until = 0
    const watch = new AbortController()
    const watching = (async () => {
      while (!watch.signal.aborted) {
        const at = performance.now()
        if (await isServed(target)) continue
        from ||= at
        until = performance.now()
      }
    })()
    await replaced()
    watch.abort()
    await watching
    return until - from
  }

  it("is installed without Node, and replaced with at most 2 s of refusals where it is alone", async () => {
    assert.throws(() => machine.run("node --version"))
    const installed = machine.run(`curl -fsSL ${stack.url("/install.sh")} | sh 2>&1`)
    assert.include(installed, "ct-agent 0.1.0 is installed as /usr/local/bin/ct-agent.")
    assert.notInclude(installed, "signature is not")
    const origin = await httpOrigin()
    const { target, variables } = await provision(stack, "update.localhost", origin.port)
    const first = await start(variables, "first")
    await eventually(() => isServed(target), "a visitor is served", 30_000)

    releases.publish("0.2.0")
    const refused = await refusalsDuring(target, () => update(first, "0.2.0"))
    process.stderr.write(`one agent: refusals for ${Math.round(refused)} ms\n`)
    assert.isAtMost(refused, 2000)
    assert.strictEqual(machine.run("/usr/local/bin/ct-agent --version"), "ct-agent 0.2.0\n")
    const isTidy = () => !/old|new|trial/u.test(machine.run("ls -A /usr/local/bin"))
    await eventually(isTidy, "the old program is removed")

    if (inFull) {
      const second = await start(variables, "second")
      releases.publish("0.3.0")
      const over = new AbortController()
      const { done } = steadyVisitors(target, visitorsASecond, over.signal)
      await update(first, "0.3.0")
      await update(second, "0.3.0")
      over.abort()
      const { lost, visits } = await done
      process.stderr.write(`two agents: ${visits} visits, ${lost.length} lost\n`)
      assert.deepStrictEqual(lost, [], "two agents")
      assert.isAbove(visits, visitorsASecond)
    }
    await origin.close()
  })
})
