/** Searching the memory of other processes, as Linux shows it. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs"

const chunkBytes = 8 * 1024 * 1024

/** The process and all that come of it. */
export const withChildren = (pid: number): ReadonlyArray<number> => {
  const children = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]) === pid
    } catch {
      return false
    }
  })
  return [pid, ...children.flatMap((child) => withChildren(Number(child)))]
}

/** Which of the texts are in what a process may write to. */
export const inMemoryOf = (pid: number, texts: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const memory = openSync(`/proc/${pid}/mem`, "r")
  const chunk = Buffer.alloc(chunkBytes + 1_024)
  for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
    const [, from = "", to = ""] = /^([\da-f]+)-([\da-f]+) rw/.exec(line) ?? []
    const end = BigInt(`0x${to || 0}`)
    for (let at = BigInt(`0x${from || 0}`); at < end; at += BigInt(chunkBytes)) {
      const left = Number(end - at)
      let read = 0
      try {
        read = readSync(memory, chunk, 0, Math.min(left, chunk.length), at)
      } catch {
        continue // it was given back to the system since
      }
      for (const text of texts) if (chunk.subarray(0, read).includes(text, 0, "latin1")) found.add(text)
    }
  }
  closeSync(memory)
  return found
}
