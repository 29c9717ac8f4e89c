import { checkRoles, RoleTag } from "@catenet/domain/agents/Pipeline"
import { RoleTagRepeated, RoleWithoutUnits } from "@catenet/domain/agents/PipelineErrors"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, often } from "../values/history.ts"

const tagOf = Schema.decodeSync(RoleTag)

describe("the roles of a pipeline", () => {
  it.prop(
    "have a tag of their own and a unit at least, and the first that does not is named",
    [
      Schema.Array(Schema.Struct({ tag: between(0, 9), units: between(0, 4) })).pipe(
        Schema.check(Schema.isMaxLength(8))
      )
    ],
    ([numbers]) => {
      const roles = numbers.map(({ tag, units }) => ({ tag: tagOf(`role ${tag}`), units: BigInt(units) }))
      const isRepeated = (n: number) => roles.slice(0, n).some(({ tag }) => tag === roles[n]?.tag)
      const wrong = roles.findIndex(({ units }, n) => isRepeated(n) || units === 0n)
      const role = roles[wrong]
      const expected =
        role === undefined
          ? Result.void
          : Result.fail(
              isRepeated(wrong) ? new RoleTagRepeated({ tag: role.tag }) : new RoleWithoutUnits({ tag: role.tag })
            )
      assert.deepStrictEqual(checkRoles(roles), expected)
    },
    often
  )
})
