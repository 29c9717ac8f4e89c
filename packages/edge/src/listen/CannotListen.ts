/** A listener cannot open its address: it is taken, or it is no address of this machine. */
import { type Address, formatAddress } from "@catenet/config/NetworkParser"
import { Data } from "effect"

export class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly variable: string
  readonly address: Address
  readonly reason: string
}> {
  override get message() {
    return `${formatAddress(this.address)} cannot be opened (${this.reason}); move it with ${this.variable}.`
  }
}
