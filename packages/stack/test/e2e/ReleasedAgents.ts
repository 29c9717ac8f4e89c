/** Releases of the agent as `npm run release` makes them, and a machine that has no Node. */
import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const scripts = join(import.meta.dirname, "../../../../scripts")

/** What the tests use of the scripts that make releases. */
interface Scripts {
  readonly buildAgent: (work: string, keys: string) => string
  readonly make: (bundle: string, node: string, output: string) => void
  readonly writeChecksum: (folder: string, asset: string) => void
  readonly write: (folder: string, version: string, seed: string, at: number) => void
  readonly publicKeyOf: (seed: string) => string
  readonly local: { readonly asset: string } | undefined
  readonly binaryOf: (target: { readonly asset: string } | undefined) => string
}

const loaded = async (): Promise<Scripts> => {
  const files = ["bundle", "executable", "manifest", "key", "nodes"]
  const modules = await Promise.all(files.map((name) => import(join(scripts, "release", `${name}.mjs`))))
  return Object.assign({}, ...modules)
}

export class ReleasedAgents {
  readonly folder: string
  readonly publicKey: string
  readonly asset: string
  readonly #seed = "07".repeat(32)
  readonly #scripts: Scripts
  readonly #built: string
  readonly #work: string

  private constructor(work: string, scripts: Scripts) {
    this.folder = join(work, "releases")
    mkdirSync(this.folder, { recursive: true })
    this.#work = work
    this.#scripts = scripts
    this.publicKey = scripts.publicKeyOf(this.#seed)
    this.asset = scripts.local?.asset ?? ""
    this.#built = scripts.buildAgent(work, this.publicKey)
  }

  static async in(work: string) {
    return new ReleasedAgents(work, await loaded())
  }

  /** Publishes this checkout under a version. */
  publish(version: string) {
    const next = join(this.#work, `next-${version}`)
    mkdirSync(next)
    const bundle = join(this.#work, `program-${version}.js`)
    const text = readFileSync(join(this.#built, "program.js"), "utf8").replaceAll("0.1.0", version)
    writeFileSync(bundle, text)
    this.#scripts.make(bundle, this.#scripts.binaryOf(this.#scripts.local), join(next, this.asset))
    this.#scripts.writeChecksum(next, this.asset)
    this.#scripts.write(next, version, this.#seed, 1)
    renameSync(next, join(this.folder, version))
  }
}

/** A folder that becomes the root of commands: the programs of this machine without Node and npm, and nothing else of it. */
export class BareMachine {
  readonly #root: string

  static readonly possible =
    process.platform === "linux" && process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0

  constructor(root: string) {
    this.#root = root
    for (const name of ["usr", "etc", "tmp", "root", "var/lib", "dev", "proc", "local"])
      mkdirSync(join(root, name), { recursive: true })
    for (const name of ["bin", "lib", "lib64", "sbin"]) spawnSync("cp", ["-P", `/${name}`, join(root, name)])
    for (const name of ["passwd", "group", "nsswitch.conf"]) copyFileSync(join("/etc", name), join(root, "etc", name))
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
    return execFileSync(command, args, { env: variables, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  }
}
