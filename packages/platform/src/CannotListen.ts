/** A listener cannot open its address: it is taken, it is none of this machine, or the system does not let this user open it. */
import { Data } from "effect"
import { type Address, formatAddress } from "./NetworkParser.ts"

/** By the code of the system; anything else is mended by another address. */
const remedies: ReadonlyMap<string, string> = new Map([
  ["EACCES", "give this program the right to open ports below 1024, or "],
  ["EMFILE", "raise the limit of open files (ulimit -n), or "]
])

export class CannotListen extends Data.TaggedError("CannotListen")<{
  /** Names the address. */
  readonly variable: string
  readonly address: Address
  readonly reason: string
}> {
  /** `error` is what Node said of the listener. */
  static of(variable: string, address: Address, error: unknown): CannotListen {
    return new CannotListen({ variable, address, reason: error instanceof Error ? error.message : String(error) })
  }
  override get message() {
    const [, code = ""] = /\b(E[A-Z]{3,})\b/.exec(this.reason) ?? []
    const before = remedies.get(code) ?? ""
    return `${formatAddress(this.address)} cannot be opened (${this.reason}); ${before}move it with ${this.variable}.`
  }
}
