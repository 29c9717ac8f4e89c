/** A log file that keeps at most twice its bound on disk: the current file and the one before. */
import { Files } from "@catenet/platform/Files"
import { dirname } from "node:path"

const lastBytes = 4096
const bound = 8 * 1024 * 1024

export class RotatingLog {
  readonly path: string
  #size: number
  #last = Buffer.alloc(0)

  constructor(path: string) {
    Files.mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    this.path = path
    this.#size = Files.statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }

  append(chunk: Uint8Array): void {
    if (this.#size + chunk.length > bound && this.#size > 0) {
      Files.renameSync(this.path, `${this.path}.1`)
      this.#size = 0
    }
    Files.appendFileSync(this.path, chunk, { mode: 0o600 })
    this.#size += chunk.length
    this.#last = Buffer.concat([this.#last, chunk]).subarray(-lastBytes)
  }

  /** The end of what was appended. */
  get last(): string {
    return this.#last.toString()
  }
}
