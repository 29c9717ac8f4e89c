/** The guides of edge and agent name every variable, as the programs' own help does (UPDATE_DOCS=1 writes the tables). */
import { operator as ofOperators } from "@catenet/agent/internal/settings/ChannelOwnerVariables"
import {
  agent as ofAgent,
  channel as ofChannels,
  merged,
  ofMarket,
  relayNode as ofRelayNode,
  room as ofRooms
} from "@catenet/agent/internal/settings/Variables"
import { variables as ofEdge } from "@catenet/edge/internal/settings/Variables"
import * as Documentation from "@catenet/platform/Documentation"
import * as VariableReader from "@catenet/platform/VariableReader"
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")

const guides = [
  { name: "edge", variables: ofEdge },
  { name: "agent", variables: ofAgent },
  {
    name: "channels",
    variables: merged(ofChannels, ofMarket, { grants: ofRooms.grants }, ofOperators, ofRelayNode)
  }
]

describe.each(guides)("the guide of the $name", ({ name, variables }) => {
  const guide = join(root, "docs", `${name}.md`)
  const between = new RegExp(`(<!-- configuration of the ${name} -->\\n)[\\s\\S]*?(<!-- end of configuration -->)`)

  it("has the variables of the program's help", () => {
    const text = readFileSync(guide, "utf8")
    assert.match(text, between)
    const wanted = text.replace(
      between,
      (_, before, after) => `${before}\n${Documentation.table(variables)}\n\n${after}`
    )
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(guide, wanted)
    assert.strictEqual(process.env["UPDATE_DOCS"] === "1" ? wanted : text, wanted)
  })

  it("speaks of no variable that no program reads", () => {
    const sources = globSync("packages/{agent,edge,server}/src/**/*.ts", { cwd: root })
      .map((file) => readFileSync(join(root, file), "utf8"))
      .join("\n")
    const named = new Set(readFileSync(guide, "utf8").match(/\bCT_[A-Z0-9_]+\b/g))
    const names = VariableReader.namesOf(variables)
    assert.isAbove(named.size, 10)
    assert.deepStrictEqual(
      [...named].filter((variable) => !names.includes(variable) && !new RegExp(`\\b${variable}\\b`).test(sources)),
      []
    )
  })
})
