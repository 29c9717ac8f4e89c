/** Archives whose bytes depend on their content and one time alone: tar (POSIX ustar) and ar. */
import { posix } from "node:path"

/** What an archive holds, by paths from its root. */
export const folder = (path, mode = 0o755, owner = 0) => ({ path, type: "5", mode, owner, content: Buffer.alloc(0) })
export const file = (path, content, mode = 0o644) => ({
  path,
  type: "0",
  mode,
  owner: 0,
  content: Buffer.from(content)
})
export const link = (path, target) => ({ path, type: "2", mode: 0o777, owner: 0, target, content: Buffer.alloc(0) })

const octal = (value, width) => `${value.toString(8).padStart(width - 1, "0")}\0`

/** A path of up to 255 bytes in the two fields that a header has for it. */
const split = (path) => {
  if (Buffer.byteLength(path) <= 100) return [path, ""]
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1))
    if (at <= 155 && Buffer.byteLength(path.slice(at + 1)) <= 100) return [path.slice(at + 1), path.slice(0, at)]
  throw new Error(`${path} is too long for an archive`)
}

const header = (name, entry, time) => {
  const block = Buffer.alloc(512)
  const [short, prefix] = split(entry.type === "5" ? `${name}/` : name)
  const target = entry.target ?? ""
  if (Buffer.byteLength(target) > 100) throw new Error(`${name} leads to too long a path`)
  for (const [at, text] of [
    [0, short],
    [100, octal(entry.mode, 8)],
    [108, octal(entry.owner, 8)],
    [116, octal(entry.owner, 8)],
    [124, octal(entry.content.length, 12)],
    [136, octal(time, 12)],
    [148, " ".repeat(8)],
    [156, entry.type],
    [157, target],
    [257, "ustar\u000000"],
    [345, prefix]
  ])
    block.write(text, at)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return block
}

/** The folders that the entries lie in and none of them is. */
const withParents = (entries) => {
  const known = new Map(entries.map((entry) => [entry.path, entry]))
  for (const { path } of entries)
    for (let above = posix.dirname(path); above !== "."; above = posix.dirname(above))
      if (!known.has(above)) known.set(above, folder(above))
  return [...known.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The entries by their paths, each after the folder it lies in; `root` stands before every path. */
export const tar = (entries, time, root = "") => {
  const parts = withParents(entries).flatMap((entry) => {
    const rest = (512 - (entry.content.length % 512)) % 512
    return [header(`${root}${entry.path}`, entry, time), entry.content, Buffer.alloc(rest)]
  })
  return Buffer.concat([...(root === "" ? [] : [header(".", folder("."), time)]), ...parts, Buffer.alloc(1024)])
}

/** The archive that a Debian package is. */
export const ar = (members, time) =>
  Buffer.concat([
    Buffer.from("!<arch>\n"),
    ...members.flatMap(([name, content]) => [
      Buffer.from(
        `${name.padEnd(16)}${String(time).padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}${String(content.length).padEnd(10)}\`\n`
      ),
      content,
      Buffer.alloc(content.length % 2, "\n")
    ])
  ])

/** The entries of a tar archive as Debian writes them: ustar, and names of GNU's where they are long. */
export const untar = (archive) => {
  const entries = []
  let long = {}
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0;) {
    const field = (from, length) => {
      const text = archive.subarray(at + from, at + from + length)
      const end = text.indexOf(0)
      return text.subarray(0, end < 0 ? length : end).toString()
    }
    const number = (from, length) => Number.parseInt(field(from, length).trim() || "0", 8)
    const size = number(124, 12)
    const content = archive.subarray(at + 512, at + 512 + size)
    const type = field(156, 1) || "0"
    if (type === "L" || type === "K") long[type] = content.toString().replace(/\0.*$/su, "")
    else {
      const prefix = archive.toString("latin1", at + 257, at + 263) === "ustar\0" ? field(345, 155) : ""
      const name = long.L ?? (prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`)
      const path = posix.normalize(name).replace(/\/$/u, "")
      entries.push({ path, type, mode: number(100, 8), owner: 0, target: long.K ?? field(157, 100), content })
      long = {}
    }
    at += 512 + Math.ceil(size / 512) * 512
  }
  return entries
}
