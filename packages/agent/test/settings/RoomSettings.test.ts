/** The file of a room's grants, line by line, and what the variables of a member of a room must be together. */
import * as Hex from "@catenet/crypto/Hex"
import { sentence } from "@catenet/platform/ConfigurationInvalid"
import { makeHome } from "@catenet/testing/agent/Agent"
import { makeChannel } from "@catenet/testing/agent/Member"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { inspect } from "node:util"
import * as RoomSettings from "../../src/settings/RoomSettings.ts"
import { maxPairs, readPairs } from "../../src/settings/RoomVariables.ts"

type Raw = Readonly<Record<string, string>>

const parse = (raw: Raw) =>
  Effect.runPromise(
    Effect.result(RoomSettings.read(undefined)).pipe(
      Effect.map(Result.mapError(({ problems }) => problems.map(sentence))),
      Effect.provide(NodeFileSystem.layer),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(raw))
    )
  )
const accepted = async (raw: Raw) => Result.getOrThrow(await parse(raw))
const problems = async (raw: Raw) => Result.getOrThrow(Result.flip(await parse(raw))).join("\n")

const seed = new Uint8Array(randomBytes(32))
const [one, two] = [makeChannel(), makeChannel()].map((channel) => channel.member("initiate", { holderSeed: seed }))
const peers = [randomBytes(32), randomBytes(32)].map((bytes) => Hex.encode(bytes))
const lines = [`${peers[0]} ${one?.grant} anna`, `${peers[1]} ${two?.grant}`]

const room: Raw = {
  CT_CHANNEL_GRANTS: lines.join("\n"),
  CT_CHANNEL_HOLDER_KEY: Hex.encode(seed),
  CT_CHANNEL_NOISE_KEY: "cd".repeat(32),
  CT_CHANNEL_BROKER: "edge.example.net:4435",
  CT_CHANNEL_RELAY: "edge.example.net:4436"
}

describe("the grants of a room", () => {
  it("are a pair each, with a name of the operator's or the beginning of the peer's key", async () => {
    await using home = await makeHome()
    await writeFile(`${home.path}/grants`, `# all of them\r\n\n  ${lines.join("  \r\n")}\n`, { mode: 0o600 })
    const { CT_CHANNEL_GRANTS: _, ...rest } = room
    for (const given of [
      room,
      { ...room, CT_CHANNEL_GRANTS: lines.join(";") },
      { ...rest, CT_CHANNEL_GRANTS_FILE: `${home.path}/grants` }
    ]) {
      const pairs = await accepted(given)
      assert.deepStrictEqual(
        pairs.map(({ name, peer }) => [name, Hex.encode(peer)]),
        [
          ["anna", peers[0]],
          [peers[1]?.slice(0, 16), peers[1]]
        ]
      )
      const channels = pairs.map(({ settings: { meeting } }) => meeting._tag === "Broker" && meeting.grant.channel)
      assert.notDeepEqual(channels[0], channels[1])
      assert.notInclude(inspect(pairs, { depth: 10 }), Hex.encode(seed))
    }
  })

  const grant = one?.grant ?? ""
  const wrong = {
    "line 1 does not begin with a holder key of 64 hex digits": ["zz", `${peers[0]?.slice(2)} ${grant}`],
    "line 1 has no grant of 278 hex digits after the holder key": [`${peers[0]}`, `${peers[0]} ${grant.slice(2)}`],
    "line 1 has more after the grant than a name": [
      `${peers[0]} ${grant} a b`,
      `${peers[0]} ${grant} -a`,
      `${peers[0]} ${grant} ${"a".repeat(41)}`
    ],
    "line 2 repeats the name anna": [`${lines[0]}\n${peers[1]} ${two?.grant} anna`],
    "line 2 repeats a holder": [`${lines[0]}\n${peers[0]} ${two?.grant}`],
    "line 3 repeats a channel": [`${lines[0]}\n#\n${peers[1]} ${grant}`],
    "has no pair": ["#"]
  }
  for (const [why, texts] of Object.entries(wrong))
    it(`are refused when the text ${why}`, async () => {
      for (const text of texts) {
        const said = await problems({ ...room, CT_CHANNEL_GRANTS: text })
        assert.include(said, `CT_CHANNEL_GRANTS ${why}`)
        assert.notInclude(said, grant, "a grant is a secret")
      }
    })

  it("are at most so many", () => {
    const many = (count: number) =>
      Array.from({ length: count }, () => {
        const [peer, { grant }] = [Hex.encode(randomBytes(32)), makeChannel().member("both", { holderSeed: seed })]
        return `${peer} ${grant}`
      }).join("\n")
    const most = many(maxPairs)
    assert.isUndefined(readPairs(most).problem)
    assert.strictEqual(readPairs(`${most}\n${lines[0]}`).problem, `has more than ${maxPairs} pairs`)
  })

  it("must be of this holder, for other holders", async () => {
    const strange = makeChannel().member("both")
    assert.include(
      await problems({ ...room, CT_CHANNEL_GRANTS: `${lines[0]}\n${peers[1]} ${strange.grant} bert` }),
      "in the pair with bert"
    )
    const own = Hex.encode(one?.holder ?? seed)
    assert.include(await problems({ ...room, CT_CHANNEL_GRANTS: `${own} ${grant}` }), "names this member itself")
  })

  it("need the edge and the keys, as those of one channel do", async () => {
    const said = await problems({ CT_CHANNEL_GRANTS: lines.join("\n"), CT_CHANNEL_FRONT_DOOR_ONLY: "1" })
    for (const name of ["HOLDER_KEY", "NOISE_KEY", "BROKER", "RELAY", "FRONT_DOOR", "FRONT_DOOR_CERT"])
      assert.include(said, `CT_CHANNEL_${name} is not set`)
    assert.include(await problems({}), "CT_CHANNEL_GRANTS is not set; set CT_CHANNEL_GRANTS_FILE to a file")
  })
})
