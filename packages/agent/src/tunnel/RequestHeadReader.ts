/**
 * Follows what a client says first, to the end of the first head of HTTP/1, or to the byte that no such head has. Each byte is
 * looked at once, in however many pieces they come. Lenient where servers are: it only tells a head from other languages. Pure.
 */
type State = "start" | "method" | "target" | "version" | "lineStart" | "carriageReturn" | "field"

/** `undecided`: everything so far may be the beginning of a head. */
export type Judgement = "undecided" | "whole" | "other"

const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const longestMethod = 32
const version = Buffer.from("HTTP/")

const isMethod = (byte: number) => (byte >= 0x41 && byte <= 0x5a) || byte === 0x2d || byte === 0x5f
/** Digits, the dot between them, and what may stand before the end of the line. */
const endsVersion = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === space || byte === carriageReturn

export class RequestHeadReader {
  #state: State = "start"
  /** Bytes of the method, the target or the version. */
  #length = 0

  #enter(state: State): State {
    this.#length = 0
    return state
  }

  /** The state after a byte of the first line; undefined where no head of HTTP/1 goes on so. */
  #inFirstLine(byte: number): State | undefined {
    const length = this.#length++
    switch (this.#state) {
      case "start":
        if (byte === lineFeed || byte === carriageReturn) return "start"
        return isMethod(byte) ? "method" : undefined
      case "method":
        if (byte === space) return this.#enter("target")
        return isMethod(byte) && length < longestMethod ? "method" : undefined
      case "target":
        if (byte === space) return length === 0 ? this.#enter("target") : this.#enter("version")
        return byte > space && byte !== 0x7f ? "target" : undefined
      default:
        if (length === 0 && byte === space) return this.#enter("version")
        if (length < version.length) return byte === version[length] ? "version" : undefined
        if (byte === lineFeed) return "lineStart"
        return endsVersion(byte) ? "version" : undefined
    }
  }

  push(bytes: Uint8Array): Judgement {
    for (const byte of bytes) {
      switch (this.#state) {
        case "lineStart":
        case "carriageReturn":
          if (byte === lineFeed) return "whole"
          this.#state = this.#state === "lineStart" && byte === carriageReturn ? "carriageReturn" : "field"
          break
        case "field":
          if (byte === lineFeed) this.#state = "lineStart"
          break
        default: {
          const next = this.#inFirstLine(byte)
          if (next === undefined) return "other"
          this.#state = next
        }
      }
    }
    return "undecided"
  }
}
