/** A fresh Debian without Node, made by Debian's own tools, as the root of commands. */
import type { Machine } from "@catenet/testing/stack/e2e/BareMachine"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"

/** An archive of a root that one of them has made before, for a machine that reaches no mirror or that makes several. */
const prepared = process.env["CATENET_DEBIAN_ARCHIVE"]

const has = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0

/** Debian's programs that make a root. */
const maker = ["mmdebstrap", "debootstrap"].find((name) => has(name, "--version"))

export class DebianMachine implements Machine {
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
