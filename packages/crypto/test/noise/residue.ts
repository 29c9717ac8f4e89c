/**
 * The program of `Residue.test.ts`: ends handshakes of each kind and waits, so that its memory can be read; a line of input makes it
 * collect its garbage. It prints every secret that the interpreter had, with all bits turned: what it prints is not what is searched for.
 */
import { Result } from "effect"
import { native } from "../../src/native.ts"
import { entropyLength, initiate, respond } from "../../src/noise/Noise.ts"
import type { Suite } from "../../src/Suite.ts"

const ok = Result.getOrThrow

let turned = new Map<string, Uint8Array>()
const seen = (name: string, bytes: Uint8Array): Uint8Array => {
  const copy = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) copy[at] = (bytes[at] ?? 0) ^ 0xff
  turned.set(`${name} ${turned.size}`, copy)
  return bytes
}

const watched: Suite = {
  ...native,
  hmacBlake2s: (key, data) => seen("chaining", native.hmacBlake2s(key, data)),
  x25519: {
    ...native.x25519,
    keyPair: (secret) => {
      const { publicKey, sharedSecret } = native.x25519.keyPair(seen("ephemeral key", secret))
      return {
        publicKey,
        sharedSecret: (theirs) => Result.map(sharedSecret(theirs), (bytes) => seen("agreement", bytes))
      }
    }
  },
  mlkem768: {
    keyPair: (seed) => {
      const { decapsulate, publicKey } = native.mlkem768.keyPair(seen("seed", seed))
      return { publicKey, decapsulate: (ciphertext) => seen("decapsulated", decapsulate(ciphertext)) }
    },
    encapsulate: (theirs, entropy) =>
      Result.map(native.mlkem768.encapsulate(theirs, seen("entropy", entropy)), (made) => ({
        ...made,
        sharedSecret: seen("encapsulated", made.sharedSecret)
      }))
  }
}

const statics = [1, 2].map((byte) => native.x25519.keyPair(new Uint8Array(32).fill(byte)))
const [ada, bob] = [statics[0]!, statics[1]!]

const shake = (way: string, end: string) => {
  const wouldBeHybrid = way === "marked"
  const pattern = way === "offered" ? "IKhfs" : "IK"
  const options = () => {
    const entropy = crypto.getRandomValues(new Uint8Array(entropyLength(pattern, wouldBeHybrid)))
    return { pattern, wouldBeHybrid, entropy } as const
  }
  const left = ok(initiate(watched, { ...options(), static: ada, remoteStatic: bob.publicKey }))
  const right = ok(respond(watched, { ...options(), static: bob }))
  ok(right.readMessage(ok(left.writeMessage())))
  const answer = ok(right.writeMessage())
  if (end === "abandoned") {
    left.abandon()
    right.abandon()
    return []
  }
  if (end === "forged") {
    answer[answer.length - 1] = (answer.at(-1) ?? 0) ^ 1
    if (Result.isSuccess(left.readMessage(answer))) throw new Error("a forged answer was read")
    return [ok(right.finish())]
  }
  ok(left.readMessage(answer))
  if (left.next === "write") ok(right.readMessage(ok(left.writeMessage())))
  return [ok(left.finish()), ok(right.finish())]
}

const cases = [
  ["classical", "finished"],
  ["offered", "finished"],
  ["marked", "finished"],
  ["offered", "forged"],
  ["marked", "abandoned"]
].map(([way = "", end = ""]) => {
  turned = new Map()
  // The sessions stay in use.
  return { name: `${way}, ${end}`, sessions: shake(way, end), turned }
})

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const told = cases.map((each) => [each.name, Array.from(each.turned, ([name, bytes]) => [name, hex(bytes)])])
process.stdout.write(`${JSON.stringify(told)}\n`)
process.stdin.once("data", async () => {
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.stdout.write("collected\n")
})
process.stdin.once("end", () => process.exit(cases.flatMap(({ sessions }) => sessions).length === 7 ? 0 : 1))
