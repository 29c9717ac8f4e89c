import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { TestConsole } from "effect/testing"
import * as ChannelOwnerVariables from "../../src/settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../../src/settings/EnvironmentFile.ts"
import { unused } from "../../src/settings/EnvironmentFile.ts"
import * as Variables from "../../src/settings/Variables.ts"

describe("a variable of other agents", () => {
  it.effect("is named once with the reason for which it has no effect, whatever its value", () =>
    Effect.gen(function* () {
      const names = ["RESOLVER_URLS", "PROPAGATION_TIMEOUT_SECS", "INITIAL_DELAY_SECS", "ATTEMPTS", "AUTHORITATIVE"]
        .map((name) => `CT_ACME_DNS01_${name}`)
        .concat("CT_GRANT_EXPIRES_AT")
      assert.sameMembers(Object.keys(unused), names)
      const given = ConfigProvider.fromUnknown(Object.fromEntries(names.map((name) => [name, "-1"])))
      yield* EnvironmentFile.read("/dev/null", Variables.status).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, given)
      )
      const said = (yield* TestConsole.logLines).map(String)
      for (const name of names)
        assert.lengthOf(
          said.filter((line) => line.includes(`${name} has no effect: `)),
          1,
          name
        )
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})

describe("the list of all variables", () => {
  it("has every variable of every command, also two that their commands keep under one key", () => {
    const { agent, channel, names, ofMarket, relayNode, room } = Variables
    for (const command of [ChannelOwnerVariables.operator, channel, ofMarket, room, relayNode, agent])
      for (const { name } of Object.values(command)) assert.include(names, name)
  })
})
