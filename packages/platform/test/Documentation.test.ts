import { assert, describe, it } from "@effect/vitest"
import * as Documentation from "../src/Documentation.ts"
import { address } from "../src/NetworkParser.ts"
import { literal, text, whole } from "../src/Parser.ts"
import { defaulted, optional, required } from "../src/Variable.ts"

const variables = {
  listen: required("CT_A", address, "Where it listens."),
  count: defaulted("CT_LONGER", whole(1, 9), "3", "How many | few."),
  name: optional("CT_C", text, "Its name."),
  file: optional("CT_D", text, "Its file.", { standard: "/shared/x" })
}

describe("the documentation of variables", () => {
  it("is a table with aligned columns", () => {
    assert.deepStrictEqual(Documentation.table(variables).split("\n"), [
      "| variable    | meaning           | form                                      | default      |",
      "| ----------- | ----------------- | ----------------------------------------- | ------------ |",
      "| `CT_A`      | Where it listens. | a host and a port, such as 127.0.0.1:8090 | **required** |",
      "| `CT_LONGER` | How many \\| few.  | a whole number from 1 to 9                | `3`          |",
      "| `CT_C`      | Its name.         | a text                                    |              |",
      "| `CT_D`      | Its file.         | a text                                    | `/shared/x`  |"
    ])
  })

  it("is lines of help", () => {
    assert.deepStrictEqual(Documentation.help(variables).split("\n"), [
      "  CT_A       Where it listens. (a host and a port, such as 127.0.0.1:8090, required)",
      "  CT_LONGER  How many | few. (a whole number from 1 to 9, default 3)",
      "  CT_C       Its name. (a text)",
      "  CT_D       Its file. (a text, default /shared/x)"
    ])
  })

  it("refuses a default that does not parse", () => {
    assert.throws(() => defaulted("CT_E", literal("a"), "b", ""), /The default of CT_E is not a/)
  })
})
