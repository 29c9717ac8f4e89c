/** Noise as the channels use it: whole IK handshakes with fresh keys, and messages of the size a sender makes. */
import { Result } from "effect"
import { initiate, respond } from "../src/noise/Noise.ts"
import { sendLimit } from "../src/noise/NoiseFrame.ts"
import type { Suite } from "../src/Suite.ts"
import type { Contest } from "./interleaved.ts"

const ok = Result.getOrThrow

const session = (suite: Suite) => {
  const secret = (byte: number) => new Uint8Array(32).fill(byte)
  const [ada, bob] = [suite.x25519.keyPair(secret(1)), suite.x25519.keyPair(secret(2))]
  return () => {
    const left = ok(initiate(suite, { pattern: "IK", static: ada, remoteStatic: bob.publicKey, entropy: secret(3) }))
    const right = ok(respond(suite, { pattern: "IK", static: bob, entropy: secret(4) }))
    ok(right.readMessage(ok(left.writeMessage())))
    ok(left.readMessage(ok(right.writeMessage())))
    return [ok(left.finish()), ok(right.finish())] as const
  }
}

const transfer = (suite: Suite) => {
  const [left, right] = session(suite)()
  const plaintext = new Uint8Array(sendLimit)
  return () => {
    ok(right.decrypt(ok(left.encryptFrame(plaintext)).subarray(2)))
  }
}

export const contests = (suites: Readonly<Record<string, Suite>>): ReadonlyArray<Contest> => {
  const over = (way: (suite: Suite) => () => void) =>
    Object.fromEntries(Object.entries(suites).map(([name, suite]) => [name, way(suite)]))
  return [
    { name: "Noise IK handshake, both sides", unit: "1/s", amount: 1, ways: over(session) },
    { name: "Noise transport, seal and open 16 KiB", unit: "MB/s", amount: sendLimit / 1e6, ways: over(transfer) }
  ]
}
