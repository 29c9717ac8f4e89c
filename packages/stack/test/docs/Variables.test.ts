/** What holds for the variables of all programs together. */
import { variables as ofAgent } from "@catenet/agent/internal/settings/Variables"
import { variables as ofEdge } from "@catenet/edge/internal/settings/Variables"
import * as NearMiss from "@catenet/platform/VariableReader"
import * as VariableReader from "@catenet/platform/VariableReader"
import { variables as ofServer } from "@catenet/server/internal/settings/Settings"
import { assert, describe, it } from "@effect/vitest"

const programs: Readonly<Record<string, VariableReader.Variables>> = { agent: ofAgent, edge: ofEdge, server: ofServer }

describe("the variables of all programs", () => {
  it("are no near misses of another program's, so that an environment may hold those of several", () => {
    for (const [program, variables] of Object.entries(programs)) {
      const known = new Set(VariableReader.namesOf(variables))
      for (const other of Object.values(programs).flatMap(VariableReader.namesOf))
        assert.isUndefined(NearMiss.closestMatch(other, known), `${other} in the environment of the ${program}`)
    }
  })

  it("have a name, a meaning that is a sentence, and a form each", () => {
    for (const { expected, meaning, name } of Object.values(programs).flatMap((each) => Object.values(each))) {
      assert.match(name, /^[A-Z][A-Z0-9_]+$/)
      assert.match(meaning, /^[A-Z`].*[.)]$/, name)
      assert.isNotEmpty(expected, name)
    }
  })
})
