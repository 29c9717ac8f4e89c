/**
 * The platform as a user starts it, in processes of its own, in a fresh folder and on free ports. Nothing here reaches
 * into the programs: tests speak to their ports and read what they print.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { freePort } from "../../../../stack/src/Ports.ts"
import { supervised } from "../../../../stack/src/supervisor/ChildProcesses.ts"
import { agentProgram } from "../../agent/AgentProgram.ts"
import { temporaryRoot } from "../../TemporaryRoot.ts"
import { platformProgram } from "../PlatformProgram.ts"

export interface Ports {
  readonly controlPlane: number
  readonly identityProvider: number
  readonly frontDoor: number
  readonly mesh: number
  readonly edgeAdmin: number
  readonly edgeMetrics: number
  readonly demoOrigin: number
  readonly acme: number
}

const variables: Readonly<Record<keyof Ports, string>> = {
  controlPlane: "CT_CONTROL_PLANE_LISTEN",
  identityProvider: "CT_IDP_LISTEN",
  frontDoor: "CT_FRONT_DOOR",
  mesh: "CT_EDGE_LISTEN",
  edgeAdmin: "CT_EDGE_ADMIN_LISTEN",
  edgeMetrics: "CT_EDGE_METRICS_LISTEN",
  demoOrigin: "CT_DEMO_ORIGIN_LISTEN",
  acme: "CT_ACME_SERVER_LISTEN"
}

export const freePorts = async (): Promise<Ports> => {
  const port = () => Effect.runPromise(freePort("127.0.0.1"))
  return {
    controlPlane: await port(),
    identityProvider: await port(),
    frontDoor: await port(),
    mesh: await port(),
    edgeAdmin: await port(),
    edgeMetrics: await port(),
    demoOrigin: await port(),
    acme: await port()
  }
}

/** The environment of this process without the variables that would configure the stack. */
const bareEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("CT_") && name !== "NODE_OPTIONS"))

/** For a `catenet` program: its standard input is ours, and it ends when that closes. */
export const endsWithUs = { [supervised]: "1" }

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A started program with everything it has printed so far. */
export class Spawned {
  readonly child: ChildProcess
  stdout = ""
  stderr = ""
  readonly ended: Promise<Ended>

  /**
   * `behind` is a command that runs the program somewhere else, such as in another network. With {@link endsWithUs} in its
   * environment it ends even when the tests are killed.
   */
  constructor(args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, behind: ReadonlyArray<string> = []) {
    const [command, ...rest] = [...behind, process.execPath, ...args]
    const child = spawn(command ?? "", rest, {
      env: { ...bareEnvironment(), ...env },
      stdio: [supervised in env ? "pipe" : "ignore", "pipe", "pipe"]
    })
    this.child = child
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve) =>
      child.once("close", (code, signal) => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }))
    )
  }

  /** Resolves when the text has been printed; rejects when the program ends before. */
  printed(text: string, within = 180_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!this.stdout.includes(text) && !this.stderr.includes(text)) return
        clearTimeout(timer)
        resolve()
      }
      const report = () => `${this.stdout}\n${this.stderr}`
      const timer = setTimeout(() => reject(new Error(`"${text}" was not printed in time:\n${report()}`)), within)
      this.child.stdout?.on("data", look)
      this.child.stderr?.on("data", look)
      void this.ended.then(() => {
        clearTimeout(timer)
        reject(new Error(`the program ended before it printed "${text}":\n${report()}`))
      })
      look()
    })
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.child.kill(signal)
    return this.ended
  }
}

/** Runs the `catenet` command to its end. */
export const catenet = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  program = platformProgram
) => new Spawned([program, ...args], env)

/** Runs the `ct-agent` command. */
export const agent = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  behind: ReadonlyArray<string> = []
) => new Spawned([agentProgram, ...args], env, behind)

/** Runs a line that a page printed for a terminal, as it is, in a folder; instead of `npx` the agent of this checkout. */
export const pasted = (line: string, folder: string, env: Readonly<Record<string, string>> = {}) => {
  const words = line.replace(/ npx(?: --yes)? \S+$/u, "")
  if (words === line) throw new Error(`not a line that starts an agent: ${line}`)
  return agent([], env, ["sh", "-c", `cd "$0" && exec env ${words} "$@"`, folder])
}

/** The environment of a person who has Node and npm and nothing else: an empty home, and no registry that answers. */
export const onlyNodeAndNpm = (home: string) => ({
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  HOME: home,
  npm_config_registry: "http://127.0.0.1:9/",
  npm_config_update_notifier: "false"
})

export class Stack {
  readonly folder: string
  readonly ports: Ports
  readonly #program: string
  #running: Spawned | undefined

  constructor(folder: string, ports: Ports, program = platformProgram) {
    this.folder = folder
    this.ports = ports
    this.#program = program
  }

  static async make(program = platformProgram): Promise<Stack> {
    const folder = mkdtempSync(join(temporaryRoot(), "catenet-e2e-"))
    // The account of its PostgreSQL has to come through, else root's data move to the disk.
    chmodSync(folder, 0o711)
    return new Stack(folder, await freePorts(), program)
  }

  get env(): Readonly<Record<string, string>> {
    const listeners = Object.entries(this.ports).map(([name, port]) => [
      variables[name as keyof Ports],
      `127.0.0.1:${port}`
    ])
    // A folder of the operator's own: then no package of the agent is built, which only some tests want.
    const own = { CT_STACK_FOLDER: this.path(), CT_CP_RELEASES_DIR: this.path("releases") }
    return { ...Object.fromEntries(listeners), ...own }
  }

  path(...names: ReadonlyArray<string>): string {
    return join(this.folder, ".catenet", ...names)
  }

  get running(): Spawned {
    if (this.#running === undefined) throw new Error("The stack has not been started")
    return this.#running
  }

  /** Starts everything and waits for the banner. A variable of `more` that is undefined is not set. */
  async up(
    args: ReadonlyArray<string> = [],
    more: Readonly<Record<string, string | undefined>> = {}
  ): Promise<Spawned> {
    const env = Object.entries({ ...this.env, ...endsWithUs, ...more })
    const given = env.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
    this.#running = catenet(["up", ...args], Object.fromEntries(given), this.#program)
    await this.#running.printed("Catenet is up")
    return this.#running
  }

  async down(signal: NodeJS.Signals = "SIGINT"): Promise<Ended> {
    return this.running.stop(signal)
  }

  /** The process that runs a program of the stack now. */
  pid(name: string): number {
    const pids = JSON.parse(readFileSync(this.path("processes.json"), "utf8")) as Record<string, number>
    const pid = pids[name]
    if (pid === undefined) throw new Error(`no process for ${name} in ${JSON.stringify(pids)}`)
    return pid
  }

  get root(): string {
    return readFileSync(this.path("development-root.pem"), "utf8")
  }

  get secrets(): Readonly<Record<string, string>> {
    return JSON.parse(readFileSync(this.path("secrets.json"), "utf8"))
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.ports.controlPlane}${path}`
  }

  /** The portal, where people open it: over TLS, through the edge. */
  portal(path: string): string {
    return `https://portal.localhost:${this.ports.frontDoor}${path}`
  }

  async status(): Promise<Readonly<Record<string, unknown>>> {
    return (await (await fetch(this.url("/status"))).json()) as Record<string, unknown>
  }

  /** A call to the control plane with the admin token. */
  admin(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(this.url(path), {
      method,
      headers: {
        "x-ct-admin-token": this.secrets["edgeAdminToken"] ?? "",
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  }

  /** Ends what still runs and removes the folder, also where PostgreSQL was moved to. */
  async dispose(): Promise<void> {
    if (this.#running !== undefined) await this.#running.stop()
    const data = this.path("postgres")
    if (existsSync(data)) rmSync(realpathSync(data), { recursive: true, force: true })
    rmSync(this.folder, { recursive: true, force: true })
  }
}
