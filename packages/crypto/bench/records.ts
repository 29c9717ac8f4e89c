/** Signed records as edges and agents verify them: a grant at admission, a card of another agent, a tunnel's receipts. */
import { Redacted, Result } from "effect"
import * as AgentCard from "../src/AgentCard.ts"
import * as Grant from "../src/Grant.ts"
import * as Hex from "../src/Hex.ts"
import { native } from "../src/native.ts"
import * as Export from "../src/receipt/Export.ts"
import * as Receipt from "../src/receipt/Receipt.ts"
import type { Suite } from "../src/Suite.ts"
import type { Contest } from "./interleaved.ts"

const ok = Result.getOrThrow
const seed = Redacted.make(new Uint8Array(32).fill(7))
const publicKey = native.ed25519.publicKey(Redacted.value(seed))
const key = new Uint8Array(32).fill(1)

const grant = Grant.toHex(
  Grant.sign(native, seed, {
    channel: key,
    holder: publicKey,
    direction: "both",
    rights: "rw",
    delegable: false,
    expiresAt: 2000n
  })
)

const card = AgentCard.sign(native, seed, {
  roleTags: ["source", "sink"],
  skills: [{ id: "summarise", description: "Makes long texts short.", examples: [] }],
  cells: [key],
  channels: [key, publicKey],
  issuedAt: 1000n,
  expiresAt: 2000n
})

const receipts = (() => {
  const chain = { edgeId: "primary", routingTokenHash: Hex.encode(key) }
  const found: Array<Receipt.Receipt> = []
  for (let hour = 0n; hour < 50n; hour++) {
    const event = Receipt.bytesMoved({ connectedAt: 1000n, bytesIn: hour * 1000n, bytesOut: hour * 70_000n })
    found.push(ok(Receipt.append(native, seed, chain, found.at(-1) ?? Receipt.genesis, 1000n + hour * 3600n, event)))
  }
  return Export.write({ header: { pubkey: Hex.encode(publicKey), edgeId: "primary" }, receipts: found })
})()

const insist = (valid: boolean): void => {
  if (!valid) throw new Error("a record of the benchmark does not verify")
}

export const contests = (suites: Readonly<Record<string, Suite>>): ReadonlyArray<Contest> => {
  const over = (way: (suite: Suite) => () => void) =>
    Object.fromEntries(Object.entries(suites).map(([name, suite]) => [name, way(suite)]))
  return [
    {
      name: "grant, decode and verify",
      unit: "1/s",
      amount: 1,
      ways: over((suite) => () => ok(Grant.verify(suite, ok(Grant.fromHex(grant)), publicKey, 1999)))
    },
    {
      name: "agent card, verify",
      unit: "1/s",
      amount: 1,
      ways: over((suite) => () => insist(AgentCard.verify(suite, card, 1999)))
    },
    {
      name: "receipts, parse and verify",
      unit: "MB/s",
      amount: receipts.length / 1e6,
      ways: over((suite) => () => void ok(Export.verifyUnderOwnKey(suite, ok(Export.parse(receipts)))))
    }
  ]
}
