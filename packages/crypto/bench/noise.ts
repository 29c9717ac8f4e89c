/** Noise as the channels use it: whole handshakes of each way with fresh keys, and messages of the size a sender makes. */
import { Result } from "effect"
import { entropyLength, initiate, type Options, respond } from "../src/noise/Noise.ts"
import { sendLimit } from "../src/noise/NoiseFrame.ts"
import type { Suite } from "../src/Suite.ts"
import type { Contest } from "./interleaved.ts"

const ok = Result.getOrThrow

const session = (suite: Suite, pattern: Options["pattern"] = "IK", wouldBeHybrid = false) => {
  const secret = (byte: number, length = 32) => new Uint8Array(length).fill(byte)
  const [ada, bob] = [suite.x25519.keyPair(secret(1)), suite.x25519.keyPair(secret(2))]
  const way = (byte: number) =>
    ({ pattern, wouldBeHybrid, entropy: secret(byte, entropyLength(pattern, wouldBeHybrid)) }) as const
  return () => {
    const left = ok(initiate(suite, { ...way(3), static: ada, remoteStatic: bob.publicKey }))
    const right = ok(respond(suite, { ...way(4), static: bob }))
    ok(right.readMessage(ok(left.writeMessage())))
    ok(left.readMessage(ok(right.writeMessage())))
    if (left.next === "write") ok(right.readMessage(ok(left.writeMessage())))
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
    { name: "Noise IK handshake, both sides", unit: "1/s", amount: 1, ways: over((suite) => session(suite)) },
    { name: "  IKhfs, with ML-KEM-768", unit: "1/s", amount: 1, ways: over((suite) => session(suite, "IKhfs")) },
    { name: "  IK with both marks", unit: "1/s", amount: 1, ways: over((suite) => session(suite, "IK", true)) },
    { name: "Noise transport, seal and open 16 KiB", unit: "MB/s", amount: sendLimit / 1e6, ways: over(transfer) }
  ]
}
