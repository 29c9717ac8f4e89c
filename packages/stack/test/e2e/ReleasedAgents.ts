/** Releases of the agent as `npm run release` makes them. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
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
  readonly #seed: string
  readonly #scripts: Scripts
  readonly #built: string
  readonly #work: string

  private constructor(work: string, scripts: Scripts, folder: string, seed: string) {
    this.folder = folder
    this.#seed = seed
    mkdirSync(this.folder, { recursive: true })
    this.#work = work
    this.#scripts = scripts
    this.publicKey = scripts.publicKeyOf(this.#seed)
    this.asset = scripts.local?.asset ?? ""
    this.#built = scripts.buildAgent(work, this.publicKey)
  }

  /** In a folder of the test's, or in another one whose releases are signed by the key of that seed. */
  static async in(work: string, folder = join(work, "releases"), seed = "07".repeat(32)) {
    return new ReleasedAgents(work, await loaded(), folder, seed)
  }

  /** Publishes this checkout under a version, with something before all that it does but the self-test. */
  publish(version: string, before = "") {
    this.prepare(version, before)()
  }

  /** The same in two steps: what it gives publishes, and does nothing that would hold this process. */
  prepare(version: string, before = ""): () => void {
    const next = join(this.#work, `next-${version}`)
    rmSync(next, { recursive: true, force: true })
    mkdirSync(next)
    const bundle = join(this.#work, `program-${version}.js`)
    const text = readFileSync(join(this.#built, "program.js"), "utf8").replaceAll("0.1.0", version)
    const fault =
      before === "" ? "" : `if (process.argv[2] !== "--self-test" && process.argv[2] !== "--version") { ${before} }\n`
    writeFileSync(bundle, fault + text)
    this.#scripts.make(bundle, this.#scripts.binaryOf(this.#scripts.local), join(next, this.asset))
    rmSync(bundle)
    return this.#sign(next, version)
  }

  /** Publishes a shell script that passes for that version until it is to serve, which is made at once. */
  publishScript(version: string, serves: string) {
    const next = join(this.#work, `next-${version}`)
    rmSync(next, { recursive: true, force: true })
    mkdirSync(next)
    const script = `#!/bin/sh\ncase "$1" in --self-test | --version) echo "ct-agent ${version}"; exit ;; esac\n${serves}\n`
    writeFileSync(join(next, this.asset), script)
    this.#sign(next, version)()
  }

  withdrawAllBut(kept: string) {
    for (const version of readdirSync(this.folder))
      if (version !== kept) rmSync(join(this.folder, version), { recursive: true, force: true })
  }

  #sign(next: string, version: string) {
    this.#scripts.writeChecksum(next, this.asset)
    this.#scripts.write(next, version, this.#seed, 1)
    return () => renameSync(next, join(this.folder, version))
  }
}
