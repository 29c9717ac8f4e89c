/** The variables of `pipeline match` and `pipeline run`: grants, waiting time, and the rules across them. */
import * as Hex from "@catenet/crypto/Hex"
import * as VariableReader from "@catenet/platform/VariableReader"
import { makeChannel } from "@catenet/testing/agent/Member"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted, Result } from "effect"
import * as PipelineRules from "../../src/settings/PipelineRules.ts"
import * as PipelineVariables from "../../src/settings/PipelineVariables.ts"

const holderSeed = new Uint8Array(32).fill(1)
const grantOf = (...[direction, options]: Parameters<ReturnType<typeof makeChannel>["member"]>) =>
  makeChannel().member(direction, { holderSeed, ...options }).grant
const grants = ["one", "two", "three"].map(() => grantOf("initiate"))
const whole = {
  CT_PIPELINE_ID: "story",
  CT_PIPELINE_GRANTS: grants.join(","),
  CT_AGENT_CP_URL: "https://portal.example",
  CT_CHANNEL_HOLDER_KEY: Hex.encode(holderSeed),
  CT_CHANNEL_NOISE_KEY: "02".repeat(32),
  CT_CHANNEL_BROKER: "edge.example:4435",
  CT_CHANNEL_RELAY: "edge.example:4436"
}

const read = (raw: Readonly<Record<string, string>>) =>
  Effect.runSync(
    Effect.result(
      VariableReader.read(PipelineVariables.variables, {
        sources: [ConfigProvider.fromUnknown(raw, { preserveEmptyStrings: true })],
        rules: PipelineRules.rules(1_700_000_000_000)
      })
    ).pipe(Effect.provide(NodeFileSystem.layer))
  )
const problems = (more: Readonly<Record<string, string>>) => {
  const result = read({ ...whole, ...more })
  const { message } = Result.isFailure(result) ? result.failure : assert.fail(`${JSON.stringify(more)} was accepted`)
  assert.notInclude(message, whole.CT_CHANNEL_HOLDER_KEY)
  for (const grant of grants) assert.notInclude(message, grant)
  return message
}

describe("the variables of convening", () => {
  it("take one to 64 grants of this holder, between commas or one a line", () => {
    const read64 = Array.from({ length: 64 }, () => grantOf("both"))
    for (const [text, count] of [
      [whole.CT_PIPELINE_GRANTS, 3],
      [`# writer\n${grants[0]}\n\n ${grants[1]} \n`, 2],
      [grants[0] ?? "", 1],
      [read64.join(";"), 64]
    ] as const) {
      const { pipelineGrants } = Result.getOrThrow(read({ ...whole, CT_PIPELINE_GRANTS: text }))
      assert.lengthOf(pipelineGrants, count)
      assert.isTrue(pipelineGrants.every((each) => Redacted.isRedacted(each)))
    }
    for (const text of ["", "# none", "5f", `${grants[0]}00`, [...read64, grants[0]].join(",")])
      assert.include(problems({ CT_PIPELINE_GRANTS: text }), "CT_PIPELINE_GRANTS")
  })

  it("refuse a grant that is another's, over, only to accept with, or a second one for a channel", () => {
    for (const [grant, why] of [
      [makeChannel().member("initiate").grant, "a grant for the holder"],
      [grantOf("initiate", { expiresAt: 1_700_000_000n }), "a grant that has expired"],
      [grantOf("accept"), "a grant that permits accept"],
      [grants[0], "a second grant for one channel"]
    ] as const)
      assert.include(problems({ CT_PIPELINE_GRANTS: [grants[0], grant].join(",") }), `has as number 2 ${why}`)
    const live = [grants[0], grantOf("initiate", { expiresAt: 1_700_000_001n })].join(",")
    assert.isTrue(Result.isSuccess(read({ ...whole, CT_PIPELINE_GRANTS: live })))
  })

  it("bound the waiting, and name what is missing together", () => {
    for (const [text, seconds] of [
      ["1", 1],
      ["3600", 3600],
      ["", 5]
    ] as const)
      assert.strictEqual(Result.getOrThrow(read({ ...whole, CT_PIPELINE_WAIT_SECS: text })).pipelineWaitSecs, seconds)
    for (const text of ["0", "3601", "1.5", "x"])
      assert.include(problems({ CT_PIPELINE_WAIT_SECS: text }), "CT_PIPELINE_WAIT_SECS")
    const { CT_CHANNEL_BROKER: _, CT_CHANNEL_RELAY: __, ...rest } = whole
    const result = read(rest)
    const { message } = Result.isFailure(result) ? result.failure : assert.fail("accepted")
    for (const name of ["CT_CHANNEL_BROKER", "CT_CHANNEL_RELAY"]) assert.include(message, `${name} is not set`)
    assert.notInclude(message, "CT_CHANNEL_HOLDER_KEY")
  })
})
