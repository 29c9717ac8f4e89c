/**
 * A fresh Debian installs the agent from a stack as `npm start` runs it, without Node and with it, and updates itself under load: part
 * of `npm run campaign e2e/update`.
 */
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import type { Machine } from "@catenet/testing/stack/e2e/BareMachine"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { afterBlocking, UpdatingAgent } from "@catenet/testing/stack/e2e/UpdatingAgent"
import { platformSources } from "@catenet/testing/stack/PlatformProgram"
import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, cpSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { isServed, refusalsDuring } from "./Refusals.ts"
import { ReleasedAgents } from "./ReleasedAgents.ts"
import { steadyVisitors } from "./SteadyVisitors.ts"
import { provision } from "./Tunnel.ts"

// A fresh Debian without Node, made by Debian's own tools, as the root of commands.

/** An archive of a root that one of them has made before, for a machine that reaches no mirror or that makes several. */
const prepared = process.env["CATENET_DEBIAN_ARCHIVE"]

const has = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0

/** Debian's programs that make a root. */
const maker = ["mmdebstrap", "debootstrap"].find((name) => has(name, "--version"))

class DebianMachine implements Machine {
  readonly #root: string

  static readonly possible =
    process.platform === "linux" &&
    process.getuid?.() === 0 &&
    has("unshare", "-m", "true") &&
    (prepared !== undefined || maker !== undefined)

  constructor(root: string) {
    this.#root = root
    mkdirSync(root, { recursive: true })
    const made =
      prepared === undefined
        ? spawnSync(maker ?? "", ["--variant=minbase", "--include=ca-certificates,curl,openssl", "bookworm", root])
        : spawnSync("tar", ["-xf", prepared, "-C", root, "--exclude=./dev/*"])
    if (made.status !== 0) throw new Error(`no Debian can be made: ${String(made.stderr)}`)
    copyFileSync("/etc/resolv.conf", join(root, "etc", "resolv.conf"))
  }

  path(...names: ReadonlyArray<string>) {
    return join(this.#root, ...names)
  }

  get inside(): ReadonlyArray<string> {
    const root = this.#root
    const mounts = `mount --bind /dev ${root}/dev; mount -t proc proc ${root}/proc`
    return ["unshare", "-m", "sh", "-c", `set -e; ${mounts}; exec /usr/sbin/chroot ${root} "$0" "$@"`]
  }

  run(line: string, env: Readonly<Record<string, string>> = {}): string {
    const [command = "", ...args] = [...this.inside, "sh", "-c", line]
    const variables = { PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", ...env }
    const { status, stderr, stdout } = spawnSync(command, args, { env: variables, encoding: "utf8" })
    if (status !== 0) throw new Error(`${line} ended with ${status}: ${stdout}${stderr}`)
    return stdout
  }
}

const isWanted = process.env["CATENET_UPDATES"] === "1"
if (isWanted && !DebianMachine.possible)
  process.stderr.write("\nSKIPPED: a fresh Debian needs root, unshare, and mmdebstrap or debootstrap.\n\n")

/** Resident memory of a process and of what it has started, in MiB. */
const memoryOf = (machine: DebianMachine, name: string) =>
  machine.run(`for p in /proc/[0-9]*; do grep -q . $p/cmdline 2>/dev/null && tr '\\0' ' ' <$p/cmdline | grep -q -- '${name}' &&
    echo "$(sed -n 's/VmRSS:[^0-9]*\\([0-9]*\\).*/\\1/p' $p/status) $(readlink $p/exe)"; done; true`)

describe.skipIf(!isWanted || !DebianMachine.possible)("a fresh Debian", () => {
  let stack: Stack
  let machine: DebianMachine
  let attempts = 0

  beforeAll(async () => {
    stack = await Stack.make(platformSources)
    // The folder of its own releases, which it fills in the background.
    await stack.up(["--no-demo"], { CT_CP_RELEASES_DIR: undefined })
  })
  // For each attempt: a second one meets nothing of the first.
  beforeEach(() => {
    attempts++
    machine = new DebianMachine(join(stack.folder, `debian-${attempts}`))
    for (const version of ["0.2.0", "0.3.0"]) rmSync(stack.path("releases", version), { recursive: true, force: true })
  })
  afterAll(async () => {
    await stack?.dispose()
  })

  it("installs the agent of a running stack, which updates itself under load; with Node by npx", async () => {
    const isOffered = async () => (await fetch(stack.url("/releases/latest/release-manifest.json"))).status === 200
    await eventually(isOffered, "the stack has made its release", 240_000)
    assert.throws(() => machine.run("node --version"))
    const said = machine.run(`curl -fsSL ${stack.url("/install.sh")} | sh 2>&1`)
    process.stderr.write(said)
    assert.include(said, "ct-agent 0.1.0 is installed as /usr/local/bin/ct-agent.")
    assert.notInclude(said, "signature is not")

    const origin = await httpOrigin()
    await afterBlocking()
    const { target, variables } = await provision(stack, `fresh-${attempts}.localhost`, origin.port)
    await using first = await UpdatingAgent.start(stack, machine, variables, "first")
    await eventually(() => isServed(target), "a visitor is served")
    process.stderr.write(`resident, KiB, executable:\n${memoryOf(machine, "^/usr/local/bin/ct-agent")}`)

    const releases = await ReleasedAgents.in(stack.folder, stack.path("releases"), stack.secrets["releaseSeed"])
    releases.publish("0.2.0")
    process.stderr.write(
      `size of ${releases.asset}: ${statSync(join(releases.folder, "0.2.0", releases.asset)).size}\n`
    )
    const { reasons, refused } = await refusalsDuring(target, () => first.update("0.2.0"))
    process.stderr.write(`one agent: refusals for ${refused} ms\n`)
    assert.isAtMost(refused, onThisMachine(2_000), `${reasons}\n${first.printed}`)
    process.stderr.write(`resident, KiB, after an update:\n${memoryOf(machine, "^/usr/local/bin/ct-agent")}`)

    await using second = await UpdatingAgent.start(stack, machine, variables, "second")
    releases.publish("0.3.0")
    const over = new AbortController()
    const { done } = steadyVisitors(target, 20, over.signal)
    await first.update("0.3.0")
    await second.update("0.3.0")
    over.abort()
    const { lost, visits } = await done
    process.stderr.write(`two agents: ${visits} visits, ${lost.length} lost\n`)
    assert.deepStrictEqual(lost, [])
    await first[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()

    // The same machine with Node and npm, and nothing of the agent.
    machine.run("rm /usr/local/bin/ct-agent")
    cpSync(process.execPath, machine.path("usr/local/bin/node"))
    const npm = dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())))
    mkdirSync(machine.path("usr/local/lib/node_modules"), { recursive: true })
    cpSync(npm, machine.path("usr/local/lib/node_modules/npm"), { recursive: true, dereference: true })
    for (const name of ["npm", "npx"])
      machine.run(`ln -s ../lib/node_modules/npm/bin/${name}-cli.js /usr/local/bin/${name}`)
    rmSync(join(releases.folder, "0.2.0"), { recursive: true })
    rmSync(join(releases.folder, "0.3.0"), { recursive: true })
    await eventually(
      async () => machine.run(`npx --yes ${stack.url("/agent.tgz")} --version`).trim() === "ct-agent 0.1.0",
      "npx runs the agent"
    )
    const run = ["npx", "--yes", stack.url("/agent.tgz")]
    await using third = await UpdatingAgent.start(stack, machine, variables, "third", run)
    await eventually(() => isServed(target), "a visitor is served")
    assert.strictEqual(await third.version(), "0.1.0")
    process.stderr.write(`resident, KiB, bundle:\n${memoryOf(machine, "ct-agent")}`)
    await origin.close()
  })
})
