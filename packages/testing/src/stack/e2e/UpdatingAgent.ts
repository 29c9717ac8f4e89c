/** An agent of a release, installed on a machine of its own, that updates itself. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { eventually } from "../../Eventually.ts"
import type { Machine } from "./BareMachine.ts"
import { freePorts, type Stack } from "./Stack.ts"

/** Connections that the other end has closed while a command held this process are seen as closed. */
export const afterBlocking = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()
    return text === "" ? [] : text.split(" ").map(Number)
  } catch {
    return []
  }
}

interface Status {
  readonly version: string
  readonly registered: boolean
  readonly update_state: string
}

export class UpdatingAgent implements AsyncDisposable {
  printed = ""
  readonly child: ChildProcess
  readonly #port: number

  private constructor(child: ChildProcess, port: number) {
    this.child = child
    this.#port = port
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text: Buffer) => (this.printed += String(text)))
  }

  /** Starts the installed program with a state of that name, and waits until it is registered. */
  static async start(
    stack: Stack,
    machine: Machine,
    variables: Readonly<Record<string, string>>,
    name: string,
    program: ReadonlyArray<string> = ["/usr/local/bin/ct-agent"]
  ): Promise<UpdatingAgent> {
    const { mesh: port } = await freePorts()
    await afterBlocking()
    const issued = await stack.admin("POST", "/enroll/issue", { tenant: "tester" })
    const { token } = (await issued.json()) as { token: string }
    const [command = "", ...args] = [...machine.inside, ...program]
    const env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/root",
      ...variables,
      CT_AGENT_JOIN_TOKEN: token,
      CT_AGENT_STATE_DIR: `/var/lib/${name}`,
      CT_AGENT_EDGE_CERT: `/var/lib/${name}.der`,
      CT_AGENT_METRICS_LISTEN: `127.0.0.1:${port}`,
      CT_AGENT_AUTO_UPDATE: "1"
    }
    const agent = new UpdatingAgent(spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] }), port)
    const isRegistered = eventually(
      async () => (await agent.status())?.registered === true,
      () => `${name} is registered: ${agent.printed}`
    )
    await isRegistered.catch(async (error: unknown) => {
      await agent[Symbol.asyncDispose]()
      throw error
    })
    return agent
  }

  status = async (): Promise<Status | undefined> => {
    try {
      return (await (await fetch(`http://127.0.0.1:${this.#port}/status`)).json()) as Status
    } catch {
      return undefined
    }
  }

  /** The version that serves; none while no version does. */
  async version() {
    const said = await this.status()
    return said?.registered === true ? said.version : ""
  }

  /** Has the agent look for a newer version now. */
  look() {
    this.child.kill("SIGHUP")
  }

  async update(version: string) {
    // Once more while it looks already.
    this.look()
    this.look()
    let refusals = 0
    await eventually(
      async () => {
        // Another agent of the machine tries the version, which is over in a moment.
        const said = this.printed.split("is on trial in another agent").length - 1
        if (said > refusals) this.look()
        refusals = said
        return (await this.version()) === version
      },
      () => `${version}: ${this.printed}`
    )
  }

  async [Symbol.asyncDispose]() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = new Promise((resolve) => this.child.once("close", resolve))
    // All of them, as a manager of services does: npx passes no signal on, and the parent of a version on trial does.
    const pids = [this.child.pid ?? 0]
    for (const pid of pids) pids.push(...childrenOf(pid))
    for (const pid of pids) process.kill(pid, "SIGTERM")
    await ended
  }
}
