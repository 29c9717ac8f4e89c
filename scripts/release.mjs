/**
 * Releases of the agent: `keygen` makes the key that signs them, `build` the programs and packages of this checkout's version, and
 * `sign` the signed list of them. What is written is a folder for CT_CP_RELEASES_DIR.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { root } from "./node.mjs"
import { pack } from "./pack.mjs"
import { buildAgent } from "./release/bundle.mjs"
import * as executable from "./release/executable.mjs"
import * as key from "./release/key.mjs"
import * as manifest from "./release/manifest.mjs"
import * as nodes from "./release/nodes.mjs"

const usage = `npm run release -- keygen --key FILE                        makes a key and prints its public half
npm run release -- build --out FOLDER --pubkey HEX[,HEX]    builds FOLDER/VERSION; --only ASSET[,ASSET] of it
npm run release -- sign --key FILE FOLDER/VERSION           writes the signed list of it
`

const fail = (text, code = 2) => {
  process.stderr.write(`${text}\n`)
  process.exit(code)
}

const wanted = (value, name) => value ?? fail(`--${name} is missing.\n${usage}`)

const build = ({ only, out, pubkey }) => {
  const keys = wanted(pubkey, "pubkey").toLowerCase()
  if (!/^[0-9a-f]{64}(?:,[0-9a-f]{64})?$/u.test(keys)) fail("--pubkey is one or two public keys of 64 hex digits.")
  const { version } = JSON.parse(readFileSync(join(root, "packages", "agent", "package.json"), "utf8"))
  const place = join(resolve(wanted(out, "out")), version)
  if (existsSync(place)) fail(`${place} is there already: a release is not changed.`, 4)
  const chosen = only?.split(",")
  const unknown = chosen?.filter((asset) => nodes.targets.every((target) => target.asset !== asset)) ?? []
  if (unknown.length > 0)
    fail(`There is no asset ${unknown.join(", ")}. There are: ${nodes.targets.map(({ asset }) => asset).join(", ")}.`)
  const work = mkdtempSync(join(tmpdir(), "catenet-release-"))
  try {
    const built = buildAgent(work, keys)
    const next = join(work, "release")
    mkdirSync(next)
    pack(built, next)
    for (const target of nodes.targets) {
      if (chosen !== undefined && !chosen.includes(target.asset)) continue
      process.stderr.write(`${target.asset} ...\n`)
      executable.make(join(built, "program.js"), nodes.binaryOf(target), join(next, target.asset))
      executable.writeChecksum(next, target.asset)
    }
    mkdirSync(resolve(out), { recursive: true })
    // Beside its place first, on the same disk: it appears there whole.
    const beside = join(resolve(out), `.${version}.new`)
    rmSync(beside, { recursive: true, force: true })
    cpSync(next, beside, { recursive: true })
    renameSync(beside, place)
    process.stdout.write(`${place}\n`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const main = () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { key: { type: "string" }, only: { type: "string" }, out: { type: "string" }, pubkey: { type: "string" } }
  })
  const [task, folder] = positionals
  if (task === "keygen") return process.stdout.write(`${key.publicKeyOf(key.generate(wanted(values.key, "key")))}\n`)
  if (task === "build") return build(values)
  if (task !== "sign" || folder === undefined) return fail(usage)
  const version = basename(resolve(folder))
  if (!/^\d+(?:\.\d+){1,3}$/u.test(version)) fail(`${folder} is not the folder of a version.`)
  const at = Number(process.env.SOURCE_DATE_EPOCH ?? Math.floor(Date.now() / 1000))
  return manifest.write(folder, version, key.read(wanted(values.key, "key")), at)
}

try {
  main()
} catch (error) {
  fail(error.message, 1)
}
