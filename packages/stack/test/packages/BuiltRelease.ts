/** A release of the agent with one program, that of this machine, as `npm run release -- build` lays it out, and its packages. */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const root = join(import.meta.dirname, "../../../..")
const scripts = join(root, "scripts")

/** What the tests use of the scripts. */
interface Scripts {
  readonly make: (bundle: string, node: string, output: string) => void
  readonly pack: (folder: string, to: string) => void
  readonly local: { readonly asset: string } | undefined
  readonly binaryOf: (target: { readonly asset: string } | undefined) => string
}

const loaded = async (): Promise<Scripts> => {
  const files = ["release/executable", "release/nodes", "pack"]
  return Object.assign({}, ...(await Promise.all(files.map((name) => import(join(scripts, `${name}.mjs`))))))
}

/** A moment of 2026, for everything in the packages. */
export const time = 1_780_000_000

export class BuiltRelease {
  readonly folder: string
  readonly asset: string

  private constructor(folder: string, asset: string) {
    this.folder = folder
    this.asset = asset
  }

  /** The program is made once for the same sources. */
  static async in(work: string): Promise<BuiltRelease> {
    const { binaryOf, local, make, pack } = await loaded()
    const asset = local?.asset ?? ""
    const bundle = dirname(process.env["CATENET_TEST_AGENT"] ?? "")
    const cached = join(dirname(bundle), `${basename(bundle)}-executable`, asset)
    if (!existsSync(cached)) {
      mkdirSync(dirname(cached), { recursive: true })
      make(join(bundle, "program.js"), binaryOf(local), `${cached}.${process.pid}`)
      renameSync(`${cached}.${process.pid}`, cached)
    }
    const folder = join(work, "0.1.0")
    mkdirSync(folder, { recursive: true })
    try {
      linkSync(cached, join(folder, asset))
    } catch {
      copyFileSync(cached, join(folder, asset))
    }
    pack(bundle, folder)
    return new BuiltRelease(folder, asset)
  }

  /** Runs `npm run package` for it, at the lowest level of compression; gives what it says. */
  package(...options: ReadonlyArray<string>): Promise<{ readonly status: number | null; readonly said: string }> {
    const args = [join(scripts, "package.mjs"), this.folder, "--level", "1", ...options]
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (said += String(text)))
    return new Promise((resolve) => child.once("close", (status) => resolve({ status, said })))
  }

  path(name: string) {
    return join(this.folder, name)
  }

  read(name: string) {
    return readFileSync(this.path(name), "utf8")
  }

  sha256(name: string) {
    return createHash("sha256")
      .update(readFileSync(this.path(name)))
      .digest("hex")
  }
}
