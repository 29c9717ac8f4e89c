/**
 * Machines of an operator who follows the pages "Start": a folder each, in which the lines of a page run in a shell as they stand
 * there. Only what the pages take as an example is another: addresses, the folders of the machine, and the copy between machines.
 */
import { endsWithUs, Spawned } from "@catenet/testing/stack/e2e/Stack"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"

const docs = join(import.meta.dirname, "../../../../docs")

/** The lines of the shell under "Start" of a page, a text for each block, up to the next heading. */
export const startOf = (page: string): ReadonlyArray<string> => {
  const [, start = ""] = readFileSync(join(docs, `${page}.md`), "utf8").split("\n## Start\n")
  const [own = ""] = start.split(/\n##+ /u)
  return [...own.matchAll(/^```sh\n([\s\S]*?)^```$/gmu)].map(([, lines = ""]) => lines)
}

/** Stands for the name servers: the zone of the pages is on this machine. */
const resolution = `
import dns from "node:dns"
const { lookup } = dns
dns.lookup = (host, options, done) => lookup(host.endsWith(".example.net") ? "127.0.0.1" : host, options, done)
`

/** What the pages say, and what stands there on this machine. */
export type Examples = ReadonlyArray<readonly [page: string, here: string]>

export class OperatorMachine {
  readonly folder: string
  readonly #env: Readonly<Record<string, string>>

  constructor(folder: string, env: Readonly<Record<string, string>> = {}) {
    this.folder = folder
    for (const name of ["etc/catenet", "var/lib", "usr"]) mkdirSync(join(folder, name), { recursive: true })
    const names = join(folder, "resolution.mjs")
    writeFileSync(names, resolution)
    this.#env = {
      ...endsWithUs,
      PATH: [join(folder, "usr/bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      HOME: folder,
      NODE_OPTIONS: `--import ${pathToFileURL(names).href}`,
      npm_config_prefix: join(folder, "usr"),
      npm_config_offline: "true",
      npm_config_update_notifier: "false",
      ...env
    }
  }

  /** A file of this machine. */
  path(name: string): string {
    return join(this.folder, name)
  }

  /** The lines in one shell, which becomes the last program where that one stays. */
  run(lines: string, examples: Examples = []): Spawned {
    const here = [...examples, ["scp ", "cp "] as const].reduce((text, [from, to]) => text.replaceAll(from, to), lines)
    const own = here.replaceAll(/(?<=[ =])\/(?=etc\/catenet|var\/lib\/catenet)/gu, `${this.folder}/`)
    const staying = own.replace(/^(?=(?:[A-Z_]+=\S+ (?:\\\n)?)+(?:catenet|ct-agent)\b)/mu, "exec env ")
    return new Spawned([], this.#env, ["sh", "-e", "-c", `cd '${this.folder}'\n${staying}`])
  }
}
