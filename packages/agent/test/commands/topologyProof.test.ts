import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { Result } from "effect"
import { assert, describe, it } from "vitest"

const seed = "1f".repeat(32)
const env = { CT_CHANNEL_HOLDER_KEY: seed, CT_TOPOLOGY_ID: "0a".repeat(16), CT_TOPOLOGY_ACCOUNT: "ada" }
const bytes = (hex: string) => Result.getOrThrow(Hex.decode(hex))

describe("topology-proof", () => {
  it("prints the request body that places this agent", async () => {
    await using home = await makeHome()
    await using agent = runAgent(home, env, ["topology-proof", "--json"])
    assert.strictEqual(await agent.exited, 0, agent.lines.join("\n"))
    const { agent: key, proof } = JSON.parse(agent.stdout())
    assert.strictEqual(key, Hex.encode(native.ed25519.publicKey(bytes(seed))))
    const placement = { topologyId: env.CT_TOPOLOGY_ID, subject: "ada", holder: bytes(key) }
    assert.isTrue(PlacementProof.verify(native, placement, bytes(proof)))
    await using lines = runAgent(home, env, ["topology-proof"])
    assert.strictEqual(await lines.exited, 0)
    assert.strictEqual(lines.stdout(), `agent = ${key}\nproof = ${proof}\n`)
  })

  it("names every variable that is missing or wrong, and repeats none", async () => {
    await using home = await makeHome()
    await using agent = runAgent(home, { ...env, CT_CHANNEL_HOLDER_KEY: "1f1f", CT_TOPOLOGY_ID: "" }, [
      "topology-proof"
    ])
    assert.strictEqual(await agent.exited, 3)
    assert.strictEqual(agent.stdout(), "")
    assert.deepStrictEqual(agent.lines.slice(-2), [
      "Error: CT_CHANNEL_HOLDER_KEY is not a key of 64 hex characters; correct it and start again.",
      "Error: CT_TOPOLOGY_ID is not set; set it to the id of a topology: 32 hex characters."
    ])
  })
})
