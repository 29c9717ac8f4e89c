/** What a process still holds of a handshake that is over, found in its whole memory: V8's heap, buffers, OpenSSL's heap and the stacks. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync, readSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("residue.ts", import.meta.url))

/** The parts of a process's memory that it can write to and that are there, in pieces that overlap by more than a secret. */
function* memoryOf(pid: number): Generator<Buffer> {
  const file = openSync(`/proc/${pid}/mem`, "r")
  const [size, overlap] = [1 << 24, 128]
  try {
    for (const area of readFileSync(`/proc/${pid}/smaps`, "latin1").split(/^(?=[0-9a-f]+-[0-9a-f]+ )/mu)) {
      const [, from = "0", to = "0", mode = ""] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/u.exec(area) ?? []
      if (!mode.startsWith("rw") || /^Rss: +0 kB/mu.test(area)) continue
      const last = Number.parseInt(to, 16)
      for (let start = Number.parseInt(from, 16); start < last; start += size - overlap) {
        const piece = Buffer.alloc(Math.min(size, last - start))
        yield piece.subarray(0, readSync(file, piece, 0, piece.length, start))
      }
    }
  } finally {
    closeSync(file)
  }
}

type Case = readonly [name: string, secrets: ReadonlyArray<readonly [name: string, turned: string]>]

// Known by the second half of its 32 bytes, or the same of 64: `free` writes over the first.
const knownBy = (turned: string) =>
  Buffer.from(
    Buffer.from(turned, "hex")
      .subarray(16, 32)
      .map((byte) => byte ^ 0xff)
  )

/** For each case the names of its secrets, and of those that are in the process's memory. */
const search = (pid: number, cases: ReadonlyArray<Case>) => {
  const [wanted, seen] = [new Map<number, Map<string, Buffer>>(), new Set<string>()]
  for (const [, turned] of cases.flatMap(([, secrets]) => secrets)) {
    const bytes = knownBy(turned)
    const start = bytes.readUInt16LE(0)
    wanted.set(start, (wanted.get(start) ?? new Map<string, Buffer>()).set(bytes.toString("hex"), bytes))
  }
  const isWanted = Uint8Array.from({ length: 1 << 16 }, (_, start) => Number(wanted.has(start)))
  for (const piece of memoryOf(pid))
    for (let at = 0, before = piece[0] ?? 0; at < piece.length - 1; at++) {
      const next = piece[at + 1] ?? 0
      const start = before | (next << 8)
      before = next
      if (isWanted[start] === 0) continue
      for (const [name, bytes] of wanted.get(start) ?? [])
        if (bytes.equals(piece.subarray(at, at + bytes.length))) seen.add(name)
    }
  return new Map(
    cases.map(([name, secrets]) => {
      const left = secrets.filter(([, turned]) => seen.has(knownBy(turned).toString("hex")))
      return [name, { all: secrets.map(([each]) => each), left: left.map(([each]) => each) }]
    })
  )
}

/** What the program still holds at once, and when it has collected its garbage. */
const observe = async () => {
  // Young objects are not moved before they are wiped: a copy at the place they were moved from would be out of reach.
  const options = ["--expose-gc", "--max-semi-space-size=64", "--no-warnings"]
  const child = spawn(process.execPath, [...options, program], { stdio: ["pipe", "pipe", "inherit"] })
  const exited = once(child, "exit")
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  try {
    const cases = JSON.parse((await lines.next()).value ?? "") as ReadonlyArray<Case>
    const atOnce = search(child.pid ?? 0, cases)
    child.stdin.write("collect\n")
    await lines.next()
    return { atOnce, collected: search(child.pid ?? 0, cases) }
  } finally {
    child.stdin.end()
    await exited
  }
}

const kindOf = (name: string) => name.replace(/ \d+$/u, "")
const classical = ["ephemeral key", "agreement", "chaining"]
const hybrid = [...classical, "seed", "entropy", "encapsulated", "decapsulated"]

/** The runtime's own key objects hold these, and clear them when they are collected. */
const held = new Set(["ephemeral key", "seed"])

describe.skipIf(process.platform !== "linux")("the memory of a process after a handshake", () => {
  let found: Awaited<ReturnType<typeof observe>>
  beforeAll(async () => {
    found = await observe()
  })

  const check = (name: string, keysOf: (all: ReadonlyArray<string>) => ReadonlyArray<string>) => {
    const { all, left } = found.atOnce.get(name)!
    const wiped = left.filter((each) => !held.has(kindOf(each)))
    assert.sameMembers(wiped, [...keysOf(all)], "at once")
    assert.sameMembers(found.collected.get(name)!.left, [...keysOf(all)], "collected")
    return all
  }

  it.each([
    ["classical", classical],
    ["offered", hybrid],
    ["marked", hybrid]
  ])("%s: holds the two keys of each session and no other secret of it", (way, kinds) => {
    // The last two of each side are its keys, the same on both; that they are found shows that the search finds what is there.
    const all = check(`${way}, finished`, (all) => [...all.slice(-5, -3), ...all.slice(-2)])
    assert.sameMembers([...new Set(all.map(kindOf))], kinds)
  })

  it("offered: holds of a side that a forged message ended nothing, and of the other the keys of its session", () => {
    check("offered, forged", (all) => all.slice(-2))
  })

  it("marked: holds nothing of a handshake that both sides abandon in the middle", () => {
    assert.isAtLeast(check("marked, abandoned", () => []).length, 20)
  })
})
