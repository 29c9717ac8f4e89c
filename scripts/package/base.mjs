/**
 * What a program of Linux needs around it, out of Debian's packages: the C and C++ libraries and the files that name the system.
 * They come by `apt-get` from the archives that this machine trusts, in their newest version there.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { file, link, untar } from "./archive.mjs"

/** The one that `libgcc-s1` keeps its licence in is named after the compiler's version. */
const wanted = ["base-files", "libatomic1", "libc6", "libgcc-s1", "libstdc++6"]

/** Nothing in the image reads these. */
const unread = /^usr\/(?:lib\/[^/]+\/(?:gconv|audit)|share\/(?:base-files|doc-base|gdb|i18n|lintian|locale|man))\//u

const run = (command, args, options) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { maxBuffer: 2 ** 28, ...options })
  if (error !== undefined) throw new Error(`an image is made of Debian's packages by ${command}, which is not here`)
  if (status !== 0) throw new Error(`${command} ${args.at(-1)}: ${String(stderr).trim()}`)
  return stdout
}

/** The names and values of a package's control file that are one line each. */
const fields = (deb) => {
  const lines = String(run("dpkg-deb", ["--field", deb])).split("\n")
  return new Map(lines.filter((line) => /^[A-Z]/u.test(line)).map((line) => line.split(/:\s*/su, 2)))
}

/** Fetches the packages for a machine into a folder, which holds nothing else afterwards. */
export const fetch = (architecture, into) => {
  const work = `${into}.new`
  rmSync(work, { recursive: true, force: true })
  for (const path of ["lists/partial", "archives/partial", "packages"]) mkdirSync(join(work, path), { recursive: true })
  const options = Object.entries({
    "Dir::State": work,
    "Dir::State::lists": join(work, "lists"),
    "Dir::State::status": "/dev/null",
    "Dir::Cache": work,
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
    "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false"
  }).flatMap(([name, value]) => ["-o", `${name}=${value}`])
  const apt = (...words) => run("apt-get", [...options, "-qq", ...words], { cwd: join(work, "packages") })
  apt("update")
  apt("download", ...wanted)
  const compiler = readdirSync(join(work, "packages"))
    .filter((name) => name.startsWith("libgcc-s1_"))
    .map((name) => /gcc-\d+-base/u.exec(fields(join(work, "packages", name)).get("Depends") ?? "")?.[0])[0]
  if (compiler !== undefined) apt("download", compiler)
  rmSync(into, { recursive: true, force: true })
  renameSync(join(work, "packages"), into)
  rmSync(work, { recursive: true, force: true })
}

/** What the packages of a folder are: what each is called and where it is from, for the bill of materials. */
export const describe = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".deb"))
    .sort()
    .map((name) => {
      const path = join(folder, name)
      const named = fields(path)
      const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex")
      const of = (field) => named.get(field) ?? ""
      return { path, sha256, name: of("Package"), version: of("Version"), architecture: of("Architecture"), of }
    })

/** Debian's four top folders are links into `usr`. */
const merged = ["bin", "lib", "lib64", "sbin"]
const moved = (path) => (merged.includes(path.split("/")[0]) ? `usr/${path}` : path)

/** Their files, and the two that name users and how hosts are looked up. */
export const contents = (packages) => {
  const entries = new Map()
  for (const { path } of packages)
    for (const entry of untar(run("dpkg-deb", ["--fsys-tarfile", path]))) {
      const place = moved(entry.path)
      if (place === "." || unread.test(`${place}/`) || merged.includes(entry.path)) continue
      // A file of two names has its content at the first.
      if (entry.type === "1")
        entries.set(place, { ...entries.get(moved(entry.target.replace(/^\.\//u, ""))), path: place })
      else if (["0", "2", "5"].includes(entry.type)) entries.set(place, { ...entry, path: place })
    }
  for (const name of merged) entries.set(name, link(name, `usr/${name}`))
  const users = [
    ["root", 0, "/root"],
    ["ct-agent", 65_532, "/var/lib/ct-agent"]
  ]
  const lines = (of) => users.map((user) => `${of(user)}\n`).join("")
  for (const [path, content] of [
    ["etc/passwd", lines(([name, id, home]) => `${name}:x:${id}:${id}::${home}:/usr/sbin/nologin`)],
    ["etc/group", lines(([name, id]) => `${name}:x:${id}:`)],
    ["etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"],
    // Scanners of images look here for what is installed.
    ...packages.map(({ name, of, path }) => [
      `var/lib/dpkg/status.d/${name}`,
      `${String(run("dpkg-deb", ["--field", path])).trim()}\nStatus: ${of("Status") || "install ok installed"}\n`
    ])
  ])
    entries.set(path, file(path, content))
  return [...entries.values()]
}
