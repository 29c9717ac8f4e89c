/**
 * Whether a name and a password are among the lines of a rule. A hash is scrypt, as Node has it: no other scheme of htpasswd files
 * costs an attacker memory without a library. Each line takes the time of one hash, known name or not; a password that was right is
 * remembered for a minute. Only so many hashes are made at once, and addresses share them.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Entropy } from "@catenet/platform/Entropy"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { createHmac, scrypt, timingSafeEqual } from "node:crypto"

/** Passwords that are hashed or wait for it; the address that holds the most gives way. */
const maxChecking = 32
/** Hashes that one address may have made in a minute. */
const checksPerMinute = 30
/** Hashes that are made at once. */
const lanes = 2
const knownMillis = 60_000
const maxVerified = 4_096

interface Line {
  readonly name: string
  readonly cost: number
  readonly salt: Buffer
  readonly hash: Buffer
}

const linePattern = /^([^:]+):\$scrypt\$ln=(\d+),r=8,p=1\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/u

const parse = (line: string): Line | undefined => {
  const [, name, cost, salt = "", hash = ""] = linePattern.exec(line) ?? []
  return name === undefined
    ? undefined
    : { name, cost: 2 ** Number(cost), salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") }
}

const derived = (password: string, { cost, hash, salt }: Line) =>
  new Promise<Buffer>((resolve, reject) => {
    const options = { N: cost, r: 8, p: 1, maxmem: 256 * cost * 8 }
    scrypt(password, salt, hash.length, options, (error, key) => (error === null ? resolve(key) : reject(error)))
  })

/** A line for the users of a rule. */
export const lineOf = async (name: string, password: string): Promise<string> => {
  const log = 14
  const salt = Entropy.randomBytes(16)
  const hash = await derived(password, { name, cost: 2 ** log, salt, hash: Buffer.alloc(32) })
  const [shownSalt, shownHash] = [salt, hash].map((bytes) => bytes.toString("base64").replace(/=+$/u, ""))
  return `${name}:$scrypt$ln=${log},r=8,p=1$${shownSalt}$${shownHash}`
}

export class PasswordChecks {
  readonly #places = new FairPlaces(maxChecking)
  readonly #rates = new TokenBuckets(checksPerMinute)
  readonly #verified = new BoundedMap<string, number>(maxVerified)
  readonly #secret = Entropy.randomBytes(32)
  readonly #lanes: Array<Promise<void>> = Array.from({ length: lanes }, () => Promise.resolve())
  #next = 0

  /** Undefined: too many are checked, and the visitor has to come again. */
  async isKnown(
    users: ReadonlyArray<string>,
    { name, password }: { readonly name: string; readonly password: string },
    address: string,
    now: number
  ): Promise<boolean | undefined> {
    const lines = users.flatMap((user) => parse(user) ?? [])
    const [first] = lines
    if (first === undefined) return false
    const named = lines.find((line) => line.name === name)
    const line = named ?? first
    const id = createHmac("sha256", this.#secret)
      .update(`${line.salt.toString("hex")} ${line.hash.toString("hex")} ${named === undefined} ${password}`)
      .digest("base64")
    if ((this.#verified.get(id) ?? 0) > now) return true
    const block = addressBlock(address)
    if (!this.#rates.take(block, now).allowed) return undefined
    let isEvicted = false
    const leave = this.#places.take(block, { isIdle: () => false, evict: () => (isEvicted = true) })
    if (leave === undefined) return undefined
    try {
      const matches = await this.#inTurn(async () =>
        isEvicted ? undefined : timingSafeEqual(await derived(password, line), line.hash)
      )
      if (matches === undefined) return undefined
      const isRight = matches && named !== undefined
      if (isRight) this.#verified.set(id, now + knownMillis)
      return isRight
    } finally {
      leave()
    }
  }

  #inTurn<A>(work: () => Promise<A>): Promise<A> {
    const lane = this.#next++ % lanes
    const mine = (this.#lanes[lane] ?? Promise.resolve()).then(work)
    this.#lanes[lane] = mine.then(
      () => undefined,
      () => undefined
    )
    return mine
  }
}
