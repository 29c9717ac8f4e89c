/** A machine that has no Node. */
import { spawnSync } from "node:child_process"
import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The root of commands that are run apart from this machine's programs, in its network. */
export interface Machine {
  path(...names: ReadonlyArray<string>): string
  /** What runs a command there. */
  readonly inside: ReadonlyArray<string>
  /** What the line prints; throws where it fails. */
  run(line: string, env?: Readonly<Record<string, string>>): string
}

/** A folder that becomes the root of commands: the programs of this machine without Node and npm, and nothing else of it. */
export class BareMachine implements Machine {
  readonly #root: string

  static readonly possible =
    process.platform === "linux" && process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0

  constructor(root: string) {
    this.#root = root
    for (const name of ["usr", "etc", "tmp", "root", "var/lib", "dev", "proc", "local"])
      mkdirSync(join(root, name), { recursive: true })
    for (const name of ["bin", "lib", "lib64", "sbin"]) spawnSync("cp", ["-P", `/${name}`, join(root, name)])
    for (const name of ["passwd", "group", "nsswitch.conf"]) copyFileSync(join("/etc", name), join(root, "etc", name))
    // What `su` asks; no account has a password there.
    writeFileSync(join(root, "etc", "shadow"), "")
    for (const name of ["pam.d", "security"])
      if (existsSync(join("/etc", name))) cpSync(join("/etc", name), join(root, "etc", name), { recursive: true })
    cpSync("/etc/ssl", join(root, "etc", "ssl"), { recursive: true, verbatimSymlinks: true })
    mkdirSync(join(root, "local", "bin"))
  }

  path(...names: ReadonlyArray<string>) {
    return join(this.#root, ...names)
  }

  /** What runs a command there. */
  get inside(): ReadonlyArray<string> {
    const [root, nothing] = [this.#root, this.path("tmp", "nothing")]
    writeFileSync(nothing, "")
    const hidden = ["node", "npm", "npx"].map(
      (name) => `[ ! -e /usr/bin/${name} ] || mount --bind ${nothing} ${root}/usr/bin/${name}`
    )
    const mounts = [
      `mount --bind /usr ${root}/usr`,
      `mount --bind ${root}/local ${root}/usr/local`,
      `mount --bind /dev ${root}/dev`,
      `mount -t proc proc ${root}/proc`,
      ...hidden
    ]
    return ["unshare", "-m", "sh", "-c", `set -e; ${mounts.join("; ")}; exec /usr/sbin/chroot ${root} "$0" "$@"`]
  }

  run(line: string, env: Readonly<Record<string, string>> = {}): string {
    const [command = "", ...args] = [...this.inside, "sh", "-c", line]
    const variables = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/root", ...env }
    const { status, stderr, stdout } = spawnSync(command, args, { env: variables, encoding: "utf8" })
    if (status !== 0) throw new Error(`${line} ended with ${status}: ${stdout}${stderr}`)
    return stdout
  }
}
