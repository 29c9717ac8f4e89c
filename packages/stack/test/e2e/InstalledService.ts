/** Root installs the agent as a service of a machine without Node, and again, which is an upgrade. */
import { eventually } from "@catenet/testing/Eventually"
import type { BareMachine } from "@catenet/testing/stack/e2e/BareMachine"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { assert } from "vitest"
import type { ReleasedAgents } from "./ReleasedAgents.ts"
import { provision } from "./Tunnel.ts"

export const installTwice = async (stack: Stack, releases: ReleasedAgents, machine: BareMachine, host: string) => {
  const config = () => readFileSync(machine.path("etc/catenet/ct-agent.env"), "utf8")
  const unit = () => readFileSync(machine.path("etc/systemd/system/ct-agent.service"), "utf8")
  const origin = await httpOrigin()
  const { target, variables } = await provision(stack, host, origin.port)
  const { CT_AGENT_EDGE_CERT: _cert, CT_AGENT_STATE_DIR: _state, ...given } = variables
  const oldest = { CT_INSTALL_VERSION: "0.1.0" }
  const install = `curl -fsSL ${stack.url("/install.sh")} | dash 2>&1`
  const first = machine.run(install, { ...given, ...oldest, CT_AGENT_ID: "it costs $5 & more" })
  assert.include(first, "/etc/catenet/ct-agent.env has what the service is set to.")
  assert.include(config(), `CT_AGENT_TOKEN='${given["CT_AGENT_TOKEN"]}'\n`)
  assert.include(config(), "CT_AGENT_ID='it costs $5 & more'\n")
  assert.strictEqual(statSync(machine.path("etc/catenet/ct-agent.env")).mode & 0o777, 0o600)
  assert.match(unit(), /^ExecStart="\/var\/lib\/ct-agent\/bin\/ct-agent" "--config" "\/etc\/catenet\/ct-agent\.env"$/mu)
  assert.match(unit(), /^User=ct-agent$/mu)
  machine.run("mkdir -p /run/systemd; systemd-analyze verify /etc/systemd/system/ct-agent.service")
  const wanted = "etc/systemd/system/multi-user.target.wants/ct-agent.service"
  assert.strictEqual(machine.run(`readlink /${wanted}`), "/etc/systemd/system/ct-agent.service\n")

  // systemd does not run there; what it says to do instead does what the unit does.
  const [line = ""] = /su -s \/bin\/sh ct-agent -c '[^']+'/u.exec(first) ?? []
  const [command = "", ...args] = [...machine.inside, "sh", "-c", `exec ${line}`]
  const service = spawn(command, args, {
    env: { PATH: "/usr/bin:/bin:/usr/sbin" },
    stdio: ["ignore", "ignore", "pipe"]
  })
  let printed = ""
  service.stderr.on("data", (text: Buffer) => (printed += String(text)))
  const isServed = () =>
    ask(target).then(
      ({ status }) => status === 200,
      () => false
    )
  await eventually(isServed, () => printed)
  service.kill("SIGTERM")
  await once(service, "close")

  const before = [config(), unit()]
  assert.include(machine.run(install, oldest), "The service ct-agent is as it should be, and goes on.")
  assert.deepStrictEqual([config(), unit()], before)
  // The next version, on a machine where systemd runs: what it is asked to do is noted in its place.
  releases.publishScript("0.9.0", `cat /etc/systemd/system/ct-agent.service; exit 0`)
  mkdirSync(machine.path("run/systemd/system"), { recursive: true })
  writeFileSync(machine.path("local/bin/systemctl"), `#!/bin/sh\necho "$@" >>/tmp/asked\n`, { mode: 0o755 })
  const again = machine.run(install)
  assert.match(again, /ct-agent 0\.9\.0 is installed[^]*ct-agent\.env is kept\.[^]*The service ct-agent runs:/u)
  assert.deepStrictEqual([config(), unit()], before)
  const own = machine.path("var/lib/ct-agent/bin/ct-agent")
  assert.include(readFileSync(own, "utf8"), "ct-agent 0.9.0")
  assert.notStrictEqual(statSync(own).uid, 0)
  assert.strictEqual(statSync(machine.path("local/bin/ct-agent")).uid, 0)
  assert.deepStrictEqual(readFileSync(machine.path("tmp/asked"), "utf8").trim().split("\n"), [
    "daemon-reload",
    "enable --quiet ct-agent",
    "restart ct-agent"
  ])
  assert.isFalse(existsSync(machine.path("etc/catenet/ct-agent.env.new")))

  // What cannot stand in the file is refused before anything of the service is there.
  machine.run("rm -r /etc/catenet")
  const odd = machine.run(`${install} || true`, { ...given, CT_AGENT_ID: "it's" })
  assert.include(odd, "the value of CT_AGENT_ID cannot stand in /etc/catenet/ct-agent.env")
  assert.isFalse(existsSync(machine.path("etc/catenet/ct-agent.env")))
  await origin.close()
}
