import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ProgramVariables from "../../src/up/ProgramVariables.ts"

const set = {
  controlPlane: { CT_OIDC_REALM: "catenet", CT_EDGE_ID: "primary", CT_CP_SEAL_KEY: "5e" },
  edge: { CT_EDGE_ID: "primary", CT_EDGE_RECEIPTS: "1" },
  others: { CT_IDP_REALM: "catenet" }
}
const own = new Set(["CT_FRONT_DOOR", "CT_CP_DATABASE_URL"])
const passed = (given: Readonly<Record<string, string>>) => ProgramVariables.passed(given, own, set)

describe("the operator's variables on `npm start`", () => {
  it.effect("go to the programs that read them", () =>
    Effect.gen(function* () {
      const given = {
        PATH: "/bin",
        CT_FRONT_DOOR: "127.0.0.1:1",
        CT_CP_DATABASE_URL: "postgres://db/x",
        CT_SUPERVISED: "1",
        CT_CP_OPERATOR_NAME: "Ada",
        CT_CP_ACME_EAB_ZEROSSL_KID: "kid",
        DESEC_TOKEN: "secret",
        CT_EDGE_MAX_CONNECTIONS: "10",
        CT_EDGE_RECEIPTS: "0",
        CT_AGENT_ORIGIN: "127.0.0.1:3000",
        CT_BOOTSTRAP: "ab",
        CT_CP_METRICS_TOKEN: "  "
      }
      assert.deepStrictEqual(yield* passed(given), {
        controlPlane: { CT_CP_OPERATOR_NAME: "Ada", CT_CP_ACME_EAB_ZEROSSL_KID: "kid", DESEC_TOKEN: "secret" },
        edge: { CT_EDGE_MAX_CONNECTIONS: "10", CT_EDGE_RECEIPTS: "0" }
      })
    })
  )

  it.effect("are refused by name where they would have no effect, and never by value", () =>
    Effect.gen(function* () {
      const refusal = (given: Readonly<Record<string, string>>) => Effect.map(Effect.flip(passed(given)), String)
      assert.deepStrictEqual(yield* passed({ CT_OIDC_REALM: "catenet" }), {
        controlPlane: { CT_OIDC_REALM: "catenet" },
        edge: {}
      })
      for (const [name, text] of [
        ["CT_OIDC_REALM", "another-realm"],
        ["CT_EDGE_ID", "another-edge"],
        ["CT_IDP_REALM", "another-realm"],
        ["CT_CP_SEAL_KEY_FILE", "/run/seal.key"],
        ["CT_CP_METRICS_TOKN", "hush"],
        ["CT_EDGE_RECEIPT", "hush"],
        ["CT_STACK_FOLDR", "hush"]
      ] as const) {
        const said = yield* refusal({ [name]: text })
        assert.include(said, name)
        assert.notInclude(said, text)
      }
      assert.match(
        yield* refusal({ CT_CP_B: "1", CT_CP_A: "1", CT_EDGE_ID: "x" }),
        /CT_EDGE_ID: .*\n.*CT_CP_A, CT_CP_B/
      )
    })
  )
})
