/** An update that is killed at each of its steps: the next start serves, and the program is whole. */
import { eventually } from "@catenet/testing/Eventually"
import type { BareMachine } from "@catenet/testing/stack/e2e/BareMachine"
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { childrenOf, UpdatingAgent } from "@catenet/testing/stack/e2e/UpdatingAgent"
import { once } from "node:events"
import { copyFileSync, existsSync, rmSync } from "node:fs"
import { assert } from "vitest"

const program = "local/bin/ct-agent"
const beside = (suffix: string) => `local/bin/.ct-agent.${suffix}`

/** With release 0.2.0 published and 0.1.0 installed on the machine. */
export const killAtEachStep = async (
  stack: Stack,
  machine: BareMachine,
  variables: Readonly<Record<string, string>>
) => {
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
