/** Watches what the origin says first, until it is clear whether a request to upgrade was accepted. Sans I/O. */

const MAX_HEADS = 65_536

export class UpgradeAnswer {
  private seen: Buffer = Buffer.alloc(0)

  /** True: 101. False: any final answer. Undefined: not known yet (interim answers are passed over). */
  push(chunk: Buffer): boolean | undefined {
    this.seen = Buffer.concat([this.seen, chunk])
    for (;;) {
      if (this.seen.length < 12) return undefined
      const status = /^HTTP\/1\.[01] (\d{3})$/.exec(this.seen.toString("latin1", 0, 12))?.[1]
      if (status === "101") return true
      if (status?.startsWith("1") !== true || this.seen.length > MAX_HEADS) return false
      const end = this.seen.indexOf("\r\n\r\n")
      if (end < 0) return undefined
      this.seen = this.seen.subarray(end + 4)
    }
  }
}
