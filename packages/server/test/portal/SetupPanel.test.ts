/** The lines that the agents of a topology run. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Topology } from "@catenet/domain/topologies/Topology"
import { idOf, keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { EditorFacts } from "../../src/portal/pages/topology/EditorFacts.ts"
import { setup } from "../../src/portal/pages/topology/SetupPanel.ts"
import { english } from "../../src/portal/texts/English.ts"
import { bytesOf } from "../../src/runtime/TokenSecrets.ts"

const agents = Array.from({ length: 22 }, (_, n) => keyOf(`setup ${n}`)).toSorted()
const [first = "", second = ""] = agents

const factsOf = (links: number, channel: string | undefined, more: Partial<EditorFacts> = {}): EditorFacts => ({
  topology: Schema.decodeSync(Topology)({
    id: "ab".repeat(16),
    net_uuid: "cd".repeat(16),
    owner: "ada",
    overlay_mode: "baseline",
    labels: [],
    agents: agents.map((agent) => [agent, "peer"] as const),
    edges: agents.slice(1, links + 1).map((b) => (channel === undefined ? { a: first, b } : { a: first, b, channel }))
  }),
  name: null,
  labels: new Map([[first, "house"]]),
  own: "",
  owner: undefined,
  members: new Map(),
  suggestion: undefined,
  sent: undefined,
  notice: undefined,
  version: "",
  ports: { mesh: 4433, broker: 4435 },
  host: "edge.example",
  command: "npx ct-agent",
  ...more
})
const linesIn = (text: string) => [
  ...text.matchAll(/CT_CHANNEL_ROLE=(\w+) CT_CHANNEL_BROKER=(\S+) .* npx ct-agent channel/gu)
]

describe("the setup of a topology", () => {
  it("has a line for each of a link's two agents, of the channel that the bound operator derives or a note names", () => {
    const operator = keyOf("setup operator")
    const owner = { shares: [], tunnels: [], operator: { operator_pubkey: operator } }
    const bound = setup(english, factsOf(1, undefined, { owner: owner as never })).text
    assert.include(bound, Hex.encode(ChannelIds.link(native, bytesOf(operator), bytesOf(first), bytesOf(second))))
    assert.deepStrictEqual(
      linesIn(bound).map(([, role, broker]) => [role, broker]),
      [
        ["initiate", "edge.example:4435"],
        ["accept", "edge.example:4435"]
      ]
    )
    assert.include(bound, `<summary>house – ${second.slice(0, 8)}</summary>`)
    const noted = idOf("setup noted")
    assert.include(setup(english, factsOf(1, noted)).text, noted)
    assert.notMatch(bound, /CT_CHANNEL_(?:HOLDER|NOISE)_KEY=[^…]/u, "secrets stay with their agents")
  })

  it("says how a link gets a channel, stays small for many links, and is silent where nothing meets", () => {
    assert.include(setup(english, factsOf(1, undefined)).text, english.setupNoChannel)
    const many = setup(english, factsOf(21, idOf("setup noted"))).text
    assert.strictEqual(linesIn(many).length, 40)
    assert.include(many, english.setupMore(1))
    assert.notInclude(setup(english, factsOf(20, idOf("setup noted"))).text, english.setupMore(0))
    const closed = setup(english, factsOf(1, idOf("x"), { ports: { mesh: 4433, broker: undefined } })).text
    assert.strictEqual(linesIn(closed).length, 0)
    assert.include(closed, "CT_AGENT_EDGE=edge.example:4433 npx ct-agent")
  })
})
