import { type JoinToken, redeem, revoke } from "@catenet/domain/enrollment/JoinToken"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"

const Event = Schema.Struct({
  kind: Schema.Literals(["issue", "redeem", "redeem", "revoke"]),
  token: between(0, 7),
  agent: Schema.Literals(["pi", "lab"]),
  proofValid: Schema.Literals([true, true, true, false])
})

describe("join tokens", () => {
  it.prop(
    "a token enrols one agent, and nothing after it was taken back",
    [history(Event)],
    ([events]) => {
      const tokens = new Map<number, JoinToken>()
      const model = new Map<number, "free" | "used" | "gone">()
      const bindings = new Map<number, number>()
      for (const { agent, kind, proofValid, token } of events) {
        const state = tokens.get(token) ?? null
        if (kind === "issue") {
          if (state === null) {
            tokens.set(token, { _tag: "Issued", tenant: `t${token}` })
            model.set(token, "free")
          }
        } else if (kind === "revoke") {
          if (state !== null) tokens.set(token, revoke(state))
          if (model.get(token) === "free") model.set(token, "gone")
        } else {
          const answer = redeem(state, { agent, pubkey: "k", proofValid })
          const status = model.get(token)
          assert.strictEqual(
            refusal(answer),
            !proofValid
              ? "BadProof"
              : status === "used"
                ? "AlreadyUsed"
                : status === "free"
                  ? undefined
                  : "UnknownToken"
          )
          if (Result.isFailure(answer)) continue
          assert.deepStrictEqual(answer.success, {
            next: { _tag: "Redeemed", tenant: `t${token}`, agent },
            effects: [{ _tag: "BindAgent", agent, tenant: `t${token}`, pubkey: "k" }]
          })
          tokens.set(token, answer.success.next)
          model.set(token, "used")
          bindings.set(token, (bindings.get(token) ?? 0) + 1)
          assert.strictEqual(bindings.get(token), 1)
        }
      }
    },
    often
  )
})
