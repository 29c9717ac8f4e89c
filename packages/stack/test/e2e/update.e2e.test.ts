/** A machine without Node installs the agent from a running stack, serves, and updates itself while visitors come. */
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { BareMachine } from "@catenet/testing/stack/e2e/BareMachine"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { afterBlocking, childrenOf, UpdatingAgent } from "@catenet/testing/stack/e2e/UpdatingAgent"
import { once } from "node:events"
import { copyFileSync, existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { installTwice } from "./InstalledService.ts"
import { isServed, refusalsDuring } from "./Refusals.ts"
import { ReleasedAgents } from "./ReleasedAgents.ts"
import { steadyVisitors } from "./SteadyVisitors.ts"
import { provision } from "./Tunnel.ts"

/** An update that is killed at each of its steps: the next start serves, and the program is whole. */
const program = "local/bin/ct-agent"
const beside = (suffix: string) => `local/bin/.ct-agent.${suffix}`

/** With release 0.2.0 published and 0.1.0 installed on the machine. */
const killAtEachStep = async (stack: Stack, machine: BareMachine, variables: Readonly<Record<string, string>>) => {
  const kept = machine.path("tmp/ct-agent")
  copyFileSync(machine.path(program), kept)
  const isThere = (suffix: string) => () => existsSync(machine.path(beside(suffix)))
  const steps: ReadonlyArray<readonly [string, (agent: UpdatingAgent) => boolean | Promise<boolean>]> = [
    ["while it is fetched", async (agent) => (await agent.status())?.update_state === "downloading 0.2.0"],
    ["while it is written", isThere("new")],
    ["when it waits", isThere("next")],
    ["when the note is there", isThere("trial")],
    ["while it is tested", ({ child }) => childrenOf(child.pid ?? 0).length > 0],
    [
      "when it is started",
      ({ child, printed }) => printed.includes("event: update_applied") && childrenOf(child.pid ?? 0).length > 0
    ],
    ["when it has opened its ports", async (agent) => (await agent.status())?.version === "0.2.0"]
  ]
  for (const [index, [name, isReached]] of steps.entries()) {
    await using agent = await UpdatingAgent.start(stack, machine, variables, `killed-${index}`)
    agent.look()
    await eventually(
      () => isReached(agent),
      () => `${name}: ${agent.printed}`
    )
    const closed = once(agent.child, "close")
    // As the machine does: the parent of a trial, and its child.
    const pids = [agent.child.pid ?? 0, ...childrenOf(agent.child.pid ?? 0)]
    for (const pid of pids) process.kill(pid, "SIGKILL")
    await closed
    const version = machine.run("/usr/local/bin/ct-agent --version").trim()
    assert.include(["ct-agent 0.1.0", "ct-agent 0.2.0"], version, name)
    await using again = await UpdatingAgent.start(stack, machine, variables, `killed-${index}`)
    process.stderr.write(`killed ${name}: ${version} is there, ${await again.version()} serves\n`)
    await again.update("0.2.0")
    await again[Symbol.asyncDispose]()
    for (const suffix of ["new", "next", "old", "trial"]) rmSync(machine.path(beside(suffix)), { force: true })
    copyFileSync(kept, machine.path(program))
  }
  rmSync(kept)
}

const visitorsASecond = 20

/** With two agents, visitors all the time, the two minutes of a trial and a kill at each step: `npm run campaign e2e/update`. */
const inFull = process.env["CATENET_UPDATES"] === "1"
const trialSeconds = inFull ? 120 : 6

if (!BareMachine.possible) process.stderr.write("\nSKIPPED: the test of updates needs root and unshare on Linux.\n\n")

describe.skipIf(!BareMachine.possible)("an agent that updates itself", () => {
  let stack: Stack
  let releases: ReleasedAgents
  let machine: BareMachine
  let attempts = 0
  let host: string

  beforeAll(async () => {
    stack = await Stack.make()
    releases = await ReleasedAgents.in(stack.folder)
    releases.publish("0.1.0")
    await stack.up(["--no-demo"], { CT_CP_RELEASES_DIR: releases.folder, CT_CP_RELEASE_PUBKEY: releases.publicKey })
  })
  // For each attempt of a test too: a second one meets nothing of the first.
  beforeEach(() => {
    attempts++
    releases.withdrawAllBut("0.1.0")
    machine = new BareMachine(join(stack.folder, `machine-${attempts}`))
    host = `update-${attempts}.localhost`
  })
  afterAll(async () => {
    await stack?.dispose()
    rmSync(stack.folder, { recursive: true, force: true })
  })

  const installed = () => machine.run("/usr/local/bin/ct-agent --version").trim()
  const left = () => machine.run("ls -A /usr/local/bin").trim().split("\n")
  const isTidy = async (version: string) => {
    await eventually(() => !/next|new|old|trial/u.test(left().join()), "nothing is left of the trial")
    assert.strictEqual(installed(), `ct-agent ${version}`)
  }

  it("is installed without Node, and replaced with at most 2 s of refusals where it is alone", async () => {
    assert.throws(() => machine.run("node --version"))
    const install = `curl -fsSL ${stack.url("/install.sh")} | dash 2>&1`
    const said = machine.run(install)
    assert.include(said, "ct-agent 0.1.0 is installed as /usr/local/bin/ct-agent.")
    assert.notInclude(said, "signature is not")
    assert.include(said, "For a service, give the variables of a tunnel to this script")
    assert.isFalse(existsSync(machine.path("etc/catenet")))
    const origin = await httpOrigin()
    await afterBlocking()
    const { target, variables } = await provision(stack, host, origin.port)
    const given = { ...variables, CT_AGENT_UPDATE_TRIAL_SECS: String(trialSeconds) }
    await using first = await UpdatingAgent.start(stack, machine, given, "first")
    await eventually(() => isServed(target), "a visitor is served")

    // What the control plane has just listed does not hide what is published now.
    await fetch(stack.url("/releases/latest/release-manifest.json"))
    if (inFull) releases.publish("0.2.0", "for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)")
    else releases.publishScript("0.2.0", "exec sleep 1000")
    const from = performance.now()
    first.look()
    const isBack = `version 0.2.0 did not register within ${trialSeconds} s, so version 0.1.0 is back`
    await eventually(
      () => first.printed.includes(isBack),
      () => first.printed,
      trialSeconds * 1000 + 60_000
    )
    await eventually(async () => (await first.version()) === "0.1.0", "the old version serves")
    process.stderr.write(`a version that does not register: back after ${Math.round(performance.now() - from)} ms\n`)
    assert.isAtLeast(performance.now() - from, trialSeconds * 1000)
    assert.strictEqual(installed(), "ct-agent 0.1.0")
    assert.match(first.printed, /event: update_check result=apply failed: version 0\.2\.0 did not register/u)
    assert.include((await first.status())?.update_state, "0.2.0 is not tried again")

    releases.publish("0.3.0")
    const seen = await refusalsDuring(target, () => first.update("0.3.0"))
    process.stderr.write(`one agent: refusals for ${seen.refused} ms ${seen.reasons}\n`)
    assert.match(first.printed, /event: update_applied conn=1 version=0\.3\.0/u)
    await isTidy("0.3.0")
    assert.isAtMost(seen.refused, onThisMachine(2_000), `${seen.reasons}\n${first.printed}`)
    // The process that was started goes on, with the new version as its child.
    assert.isNull(first.child.exitCode)

    if (inFull) {
      await using second = await UpdatingAgent.start(stack, machine, given, "second")
      releases.publish("0.4.0")
      // Made before the visitors come: it holds this process for seconds, and with it the visitors and the origin.
      const publish = releases.prepare("0.5.0", `throw new Error("this version is broken")`)
      const over = new AbortController()
      const { done } = steadyVisitors(target, visitorsASecond, over.signal)
      await first.update("0.4.0")
      await second.update("0.4.0")
      // Neither loses a visitor to a version that crashes while it loads.
      publish()
      first.look()
      await eventually(
        () => /0\.5\.0 ended with 1 before it had registered/u.test(first.printed),
        () => first.printed
      )
      await eventually(async () => (await first.version()) === "0.4.0", "the old version serves")
      over.abort()
      const { lost, visits } = await done
      process.stderr.write(`two agents: ${visits} visits, ${lost.length} lost\n`)
      assert.deepStrictEqual(lost, [], "two agents")
      assert.isAbove(visits, visitorsASecond)
      await isTidyBut(left, "0.5.0")
    }
    await origin.close()
  })

  it.runIf(inFull)("goes on after it was killed at each step of an update", async () => {
    const environment = { CT_INSTALL_VERSION: "0.1.0" }
    machine.run(`curl -fsSL ${stack.url("/install.sh")} | sh`, environment)
    releases.publish("0.2.0")
    const origin = await httpOrigin()
    await afterBlocking()
    const { variables } = await provision(stack, host, origin.port)
    await killAtEachStep(stack, machine, variables)
    await origin.close()
  })

  it("is a service after root has run install.sh, which upgrades it the second time", () =>
    installTwice(stack, releases, machine, host))
})

/** Only the note stays of a version that was rolled back. */
const isTidyBut = async (left: () => ReadonlyArray<string>, version: string) => {
  await eventually(() => !/next|new|old/u.test(left().join()), `nothing but the note is left of ${version}`)
  assert.include(left(), ".ct-agent.trial")
}
