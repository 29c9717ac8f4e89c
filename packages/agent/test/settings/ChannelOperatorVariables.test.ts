import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted, Result } from "effect"
import * as ChannelOwnerVariables from "../../src/settings/ChannelOwnerVariables.ts"
import * as LoginVariables from "../../src/settings/LoginVariables.ts"

const key = "Ab".repeat(32)
const bytes = Array<number>(32).fill(0xab)
const badKeys = ["ab".repeat(31), `${"ab".repeat(31)}zz`, "ab".repeat(33), "ü".repeat(64)]
const badDirections = ["", "in", "initiate,accept", "1"]
const badTimes = ["", "30d", "-1", "1.5", "0x10", "9".repeat(17)]
const badTexts = ["", " ", "two\nlines", "a".repeat(257)]

/** What is read of each variable, by the record of the command that reads it. */
const rows: ReadonlyArray<{
  readonly name: string
  readonly of: VariableReader.Variables
  readonly good: ReadonlyArray<readonly [given: string, value: unknown]>
  readonly bad: ReadonlyArray<string>
}> = [
  {
    name: "CT_CHANNEL_OPERATOR_PUBKEY",
    of: ChannelOwnerVariables.memberMaterial,
    good: [[` ${key} `, bytes]],
    bad: ["", ...badKeys]
  },
  {
    name: "CT_CHANNEL_OPERATOR_PUBKEY",
    of: ChannelOwnerVariables.register,
    good: [
      [key, bytes],
      ["", undefined]
    ],
    bad: badKeys
  },
  {
    name: "CT_CHANNEL_OPERATOR_KEY",
    of: ChannelOwnerVariables.grantMember,
    good: [[key, bytes]],
    bad: ["", ...badKeys]
  },
  {
    name: "CT_CHANNEL_BRIDGE_HOLDER",
    of: ChannelOwnerVariables.memberMaterial,
    good: [[key, bytes]],
    bad: ["", ...badKeys]
  },
  {
    name: "CT_CHANNEL_HOLDER_KEY",
    of: ChannelOwnerVariables.memberMaterial,
    good: [[key, bytes]],
    bad: ["", ...badKeys]
  },
  {
    name: "CT_CHANNEL_NOISE_PUBKEY",
    of: ChannelOwnerVariables.memberMaterial,
    good: [[key, bytes]],
    bad: ["", ...badKeys]
  },
  { name: "CT_CHANNEL_NOISE_KEY", of: ChannelOwnerVariables.redeem, good: [[key, bytes]], bad: ["", ...badKeys] },
  {
    name: "CT_CHANNEL_ID",
    of: ChannelOwnerVariables.ownedChannel,
    good: [
      [key, bytes],
      ["", undefined]
    ],
    bad: badKeys
  },
  { name: "CT_PIPELINE_ID", of: ChannelOwnerVariables.joinPipelineRole, good: [[" größe ", "größe"]], bad: badTexts },
  { name: "CT_PIPELINE_ROLE", of: ChannelOwnerVariables.joinPipelineRole, good: [["art", "art"]], bad: badTexts },
  {
    name: "CT_TOPOLOGY_ID",
    of: ChannelOwnerVariables.bindTopology,
    good: [["topology-abc", "topology-abc"]],
    bad: badTexts
  },
  { name: "CT_GRANT_CHANNEL", of: ChannelOwnerVariables.grantMember, good: [[key, bytes]], bad: ["", ...badKeys] },
  {
    name: "CT_GRANT_CHANNEL",
    of: ChannelOwnerVariables.ownedChannel,
    good: [
      [key, bytes],
      ["", undefined]
    ],
    bad: badKeys
  },
  {
    name: "CT_GRANT_MEMBER_HOLDER",
    of: ChannelOwnerVariables.grantMember,
    good: [[key, bytes]],
    bad: ["", ...badKeys]
  },
  {
    name: "CT_GRANT_DIRECTION",
    of: ChannelOwnerVariables.grantMember,
    good: [
      ["Initiator", "initiate"],
      ["initiate", "initiate"],
      ["responder", "accept"],
      ["ACCEPT", "accept"],
      ["both", "both"]
    ],
    bad: badDirections
  },
  {
    name: "CT_GRANT_EXPIRES",
    of: ChannelOwnerVariables.grantMember,
    good: [[" 1893456000 ", 1_893_456_000n]],
    bad: badTimes
  },
  { name: "CT_INVITE_CHANNEL", of: ChannelOwnerVariables.bareInvite, good: [[key, bytes]], bad: ["", ...badKeys] },
  { name: "CT_INVITE_IDENTITY", of: ChannelOwnerVariables.bareInvite, good: [[key, bytes]], bad: ["", ...badKeys] },
  { name: "CT_INVITE_DIRECTION", of: ChannelOwnerVariables.bareInvite, good: [["both", "both"]], bad: badDirections },
  {
    name: "CT_INVITE_RIGHTS",
    of: ChannelOwnerVariables.bareInvite,
    good: [
      ["read", "r"],
      ["write", "w"],
      ["readwrite", "rw"],
      ["", "rw"]
    ],
    bad: ["rw", "all"]
  },
  {
    name: "CT_INVITE_DELEGABLE",
    of: ChannelOwnerVariables.bareInvite,
    good: [
      ["1", true],
      ["TRUE", true],
      ["0", false],
      ["yes", false],
      ["", undefined]
    ],
    bad: []
  },
  { name: "CT_INVITE_EXPIRES", of: ChannelOwnerVariables.bareInvite, good: [["0", 0n]], bad: badTimes }
]

const parse = (of: VariableReader.Variables, raw: Readonly<Record<string, string>>) =>
  Effect.runSync(
    Effect.result(
      VariableReader.read(of, { sources: [ConfigProvider.fromUnknown(raw, { preserveEmptyStrings: true })] })
    ).pipe(Effect.provide(NodeFileSystem.layer))
  )

const plain = (value: unknown) => {
  const open = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return open instanceof Uint8Array ? Array.from(open) : open
}

describe("the variables of operators", () => {
  it.each(rows)("$name is read, and refused by name alone", ({ bad, good, name, of }) => {
    const one = Object.fromEntries(Object.entries(of).filter(([, variable]) => variable.name === name))
    const [field] = Object.keys(one)
    for (const [given, value] of good) {
      const read = Result.getOrThrow(parse(one, { [name]: given }))
      assert.deepStrictEqual(plain(read[field ?? ""]), value, given)
    }
    for (const given of bad) {
      const result = parse(one, { [name]: given })
      const { problems } = Result.isFailure(result) ? result.failure : assert.fail(`${name}=${given} was accepted`)
      assert.lengthOf(problems, 1)
      assert.strictEqual(problems[0]?.variable, name)
      if (/^(?:ab)+/u.test(given)) assert.notInclude(JSON.stringify(problems), given)
    }
    const isRequired = Object.values(one)[0]?.isRequired
    assert.strictEqual(Result.isFailure(parse(one, {})), isRequired)
  })

  it("are all in the table above", () => {
    const named = new Set(rows.map(({ name }) => name))
    const records = [
      ChannelOwnerVariables.operator,
      ChannelOwnerVariables.memberMaterial,
      ChannelOwnerVariables.joinPipelineRole,
      ChannelOwnerVariables.bindTopology,
      ChannelOwnerVariables.grantMember,
      ChannelOwnerVariables.bareInvite,
      ChannelOwnerVariables.redeem,
      ChannelOwnerVariables.register
    ]
    // Those have rows of their own in the tables of tunnels and of the login.
    const elsewhere = new Set(Object.values(LoginVariables.account).map(({ name }) => name))
    const missing = records
      .flatMap((record) => Object.values(record))
      .map(({ name }) => name)
      .filter((name) => !named.has(name) && !elsewhere.has(name))
    assert.deepStrictEqual(missing, [])
  })
})
