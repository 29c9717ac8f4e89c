/**
 * Packages of a release of the agent, beside its programs: for Debian, as OCI images, for Homebrew and as a service of Windows,
 * and a bill of materials for each. They come between `npm run release -- build` and `sign`, which lists them.
 */
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { gunzipSync } from "node:zlib"
import { installSbomTools } from "./install.mjs"
import { root } from "./node.mjs"
import { untar } from "./package/archive.mjs"
import * as base from "./package/base.mjs"
import * as debian from "./package/debian.mjs"
import * as homebrew from "./package/homebrew.mjs"
import * as image from "./package/image.mjs"
import * as windows from "./package/windows.mjs"
import { targets } from "./release/nodes.mjs"

const usage = `npm run package -- FOLDER/VERSION [--only deb,image,formula,windows,sbom] [--origin URL]
                   [--revision N] [--maintainer 'NAME <EMAIL>'] [--base FOLDER] [--level N]

Writes packages beside the programs of a release that "npm run release -- build" made and that is
not signed yet. For each program of Linux there:
  deb        ct-agent_VERSION-REVISION_amd64.deb and _arm64.deb, with a service of systemd
  image      ct-agent-VERSION-amd64.oci.tar and -arm64.oci.tar, OCI image layouts; apt-get and dpkg-deb
             bring Debian's libraries for them
And beside all others:
  formula    ct-agent.rb, for Homebrew; needs --origin, the address of the control plane that serves the release
  windows    ct-agent-service.xml, for WinSW
  sbom       ASSET.cdx.json for every program and package, CycloneDX 1.6

  --only        makes these kinds alone
  --revision    of the Debian packages of this version, 1 by default
  --maintainer  of the Debian packages
  --base        Debian's packages are taken from FOLDER/amd64 and FOLDER/arm64 where they are, and kept there where they are not
  --level       of the compression, 1 to 9, by default 9

SOURCE_DATE_EPOCH is the time in all of them, by default that of the last commit.
`

class Refused extends Error {
  constructor(message, code = 2) {
    super(message)
    this.code = code
  }
}

const sha256 = (content) => createHash("sha256").update(content).digest("hex")

const timeOf = () => {
  const named = process.env.SOURCE_DATE_EPOCH
  if (named !== undefined) {
    if (!/^\d{1,11}$/u.test(named)) throw new Refused("SOURCE_DATE_EPOCH is a number of seconds.", 3)
    return Number(named)
  }
  const { stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" })
  if (/^\d+$/u.test(stdout?.trim() ?? "")) return Number(stdout)
  throw new Refused("This is no checkout with a last commit: set SOURCE_DATE_EPOCH to the time of the sources.", 3)
}

const kinds = ["deb", "image", "formula", "windows", "sbom"]

const read = () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      base: { type: "string" },
      help: { type: "boolean", short: "h" },
      level: { type: "string", default: "9" },
      maintainer: { type: "string", default: "Catenet <catenet@localhost>" },
      only: { type: "string", default: kinds.join(",") },
      origin: { type: "string" },
      revision: { type: "string", default: "1" }
    }
  })
  if (values.help) return { ...values, help: true }
  const [place, ...more] = positionals
  if (place === undefined || more.length > 0) throw new Refused(usage)
  const folder = resolve(place)
  const version = basename(folder)
  if (!/^\d+(?:\.\d+){1,3}$/u.test(version) || !existsSync(folder))
    throw new Refused(`${place} is not the folder of a version: run npm run release -- build first.`)
  if (existsSync(join(folder, "release-manifest.json")))
    throw new Refused(`${place} is signed already: packages come before the signature, which lists them.`, 4)
  const only = values.only.split(",")
  const unknown = only.filter((kind) => !kinds.includes(kind))
  if (unknown.length > 0) throw new Refused(`There is no ${unknown.join(", ")}; there are ${kinds.join(", ")}.`)
  if (!/^\d+$/u.test(values.revision)) throw new Refused("--revision is a number.")
  if (!/^[1-9]$/u.test(values.level)) throw new Refused("--level is a number from 1 to 9.")
  if (!/^[^<>\n]+ <[^<>\s]+@[^<>\s]+>$/u.test(values.maintainer)) throw new Refused("--maintainer is 'NAME <EMAIL>'.")
  if (values.origin !== undefined && !/^https?:\/\/[A-Za-z0-9.:[\]-]+$/u.test(values.origin))
    throw new Refused("--origin is the address of a control plane, like https://portal.example.net.")
  return { ...values, folder, only, version, level: Number(values.level), time: timeOf() }
}

/** What shells ask the agent to complete, as the bundle in the npm package of the release says it. */
const completionsOf = (folder) => {
  const packed = join(folder, "agent.tgz")
  if (!existsSync(packed)) throw new Refused(`${folder} has no agent.tgz: run npm run release -- build first.`)
  const program = untar(gunzipSync(readFileSync(packed))).find(({ path }) => path === "package/program.js")
  const work = mkdtempSync(join(tmpdir(), "catenet-package-"))
  try {
    writeFileSync(join(work, "program.mjs"), program.content)
    const said = (shell) => {
      const { status, stdout } = spawnSync(process.execPath, [join(work, "program.mjs"), "--completions", shell])
      if (status !== 0) throw new Error(`the agent says no completions for ${shell}`)
      return stdout
    }
    return { bash: said("bash"), zsh: said("zsh"), fish: said("fish") }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const make = async (options) => {
  const { folder, level, only, time, version } = options
  const wants = (kind) => only.includes(kind)
  const write = (name, content) => {
    writeFileSync(join(folder, `.${name}.new`), content)
    renameSync(join(folder, `.${name}.new`), join(folder, name))
    process.stderr.write(`${name} (${(content.length / 1e6).toFixed(1)} MB)\n`)
  }
  const programs = debian.machines.filter(({ asset }) => existsSync(join(folder, asset)))
  const inside = new Map(targets.map((target) => [target.asset, { node: target.package }]))
  const of = ({ asset }) => readFileSync(join(folder, asset))

  if (wants("deb")) {
    const completions = completionsOf(folder)
    for (const machine of programs) {
      const facts = { ...options, ...machine, completions, program: of(machine) }
      const name = debian.nameOf(facts)
      process.stderr.write(`${name} ...\n`)
      write(name, debian.build(facts, level))
    }
  }
  const kept = options.base === undefined ? mkdtempSync(join(tmpdir(), "catenet-base-")) : resolve(options.base)
  const packagesOf = ({ architecture }) => {
    const place = join(kept, architecture)
    if (!existsSync(place)) {
      process.stderr.write(`Debian's packages for ${architecture} ...\n`)
      mkdirSync(kept, { recursive: true })
      base.fetch(architecture, place)
    }
    return base.describe(place)
  }
  try {
    if (wants("image"))
      for (const machine of programs) {
        const around = packagesOf(machine)
        const name = image.nameOf({ ...machine, version })
        process.stderr.write(`${name} ...\n`)
        const facts = { ...machine, base: base.contents(around), program: of(machine), time, version }
        write(name, image.build(facts, level))
        inside.set(name, { ...inside.get(machine.asset), debian: around })
      }
  } finally {
    if (options.base === undefined) rmSync(kept, { recursive: true, force: true })
  }
  if (wants("formula") && options.origin !== undefined) {
    const digests = targets
      .filter(({ asset }) => existsSync(join(folder, asset)))
      .map(({ asset }) => [asset, sha256(readFileSync(join(folder, asset)))])
    write("ct-agent.rb", Buffer.from(homebrew.formula({ ...options, digests: new Map(digests) })))
  } else if (wants("formula"))
    process.stderr.write("No ct-agent.rb: --origin names the control plane that serves the release.\n")
  if (wants("windows") && existsSync(join(folder, windows.asset)))
    write("ct-agent-service.xml", Buffer.from(windows.service))
  if (!wants("sbom")) return
  installSbomTools()
  const { bill } = await import("./package/sbom.mjs")
  for (const machine of programs) inside.set(debian.nameOf({ ...options, ...machine }), inside.get(machine.asset))
  for (const asset of readdirSync(folder)
    .filter((name) => inside.has(name) || name === "agent.tgz")
    .sort()) {
    const digest = sha256(readFileSync(join(folder, asset)))
    write(`${asset}.cdx.json`, Buffer.from(bill({ ...inside.get(asset), asset, digest, time, version })))
  }
}

try {
  const options = read()
  if (options.help) process.stdout.write(usage)
  else await make(options)
} catch (error) {
  process.stderr.write(`${error.message.trimEnd()}\n`)
  process.exit(error.code?.startsWith?.("ERR_PARSE") ? 2 : Number.isInteger(error.code) ? error.code : 1)
}
