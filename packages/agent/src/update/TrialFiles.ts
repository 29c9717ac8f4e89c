/**
 * The files of a version on trial, beside the program. The parent of a trial loads nothing else, so no Effect is imported here. A
 * version downloaded by a serving agent waits as `next` until it has registered; one that a person installed keeps the old
 * version as `old`.
 */
import { Files } from "@catenet/platform/Files"
import { basename, dirname, join } from "node:path"

/** A new version that has not registered yet, or one that did not and is not tried again. */
export interface Trial {
  readonly from: string
  readonly to: string
  /** SHA-256 of the new program, in hex. */
  readonly digest: string
  /** Seconds in which it registers. */
  readonly seconds: number
  readonly starts: number
  /** How it failed, as the end of a sentence that begins with its version; undefined while on trial. */
  readonly failed: string | undefined
  /** Whether the failure is an event already. */
  readonly said: boolean
}

const texts = ["from", "to", "digest"] as const
const numbers = ["seconds", "starts"] as const

export const decode = (text: string): Trial | undefined => {
  try {
    const note: unknown = JSON.parse(text)
    if (typeof note !== "object" || note === null) return undefined
    const field = (name: string): unknown => Reflect.get(note, name)
    if (!texts.every((name) => typeof field(name) === "string")) return undefined
    if (!numbers.every((name) => Number.isSafeInteger(field(name)))) return undefined
    const failed = field("failed")
    return {
      from: String(field("from")),
      to: String(field("to")),
      digest: String(field("digest")),
      seconds: Number(field("seconds")),
      starts: Number(field("starts")),
      failed: typeof failed === "string" ? failed : undefined,
      said: field("said") === true
    }
  } catch {
    return undefined
  }
}

const beside = (path: string, suffix: string) => join(dirname(path), `.${basename(path)}.${suffix}`)

export const placesOf = (path: string) => ({
  /** Being written. */
  new: beside(path, "new"),
  next: beside(path, "next"),
  old: beside(path, "old"),
  trial: beside(path, "trial"),
  /** Windows keeps a running program under another name. */
  running: beside(path, "running")
})

/** The program that an executable belongs to: trial and kept versions have their own names. */
export const programOf = (executable: string): string => {
  const [, name] = /^\.(.+)\.(?:next|old)$/u.exec(basename(executable)) ?? []
  return name === undefined ? executable : join(dirname(executable), name)
}

/** The files for the parent of a trial: synchronous, because it does nothing else. */
export const open = (path: string) => {
  const places = placesOf(path)
  const write = (trial: Trial) => {
    const file = Files.openSync(`${places.trial}.new`, "w", 0o644)
    Files.writeSync(file, JSON.stringify(trial))
    Files.fsyncSync(file)
    Files.closeSync(file)
    Files.renameSync(`${places.trial}.new`, places.trial)
  }
  return {
    read: (): Trial | undefined => {
      try {
        return decode(Files.readFileSync(places.trial, "utf8"))
      } catch {
        return undefined
      }
    },
    /** The version on trial; undefined if its old version cannot be restored. */
    candidate: (): string | undefined =>
      Files.existsSync(places.next) ? places.next : Files.existsSync(places.old) ? path : undefined,
    /** Restores the old version. */
    rollBack: (trial: Trial, failed: string) => {
      write({ ...trial, failed })
      if (Files.existsSync(places.next)) Files.rmSync(places.next, { force: true })
      else if (Files.existsSync(places.old)) Files.renameSync(places.old, path)
    }
  }
}
