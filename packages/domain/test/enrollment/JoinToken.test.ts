import { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { type JoinToken, redeem } from "@catenet/domain/enrollment/JoinToken"
import { audit } from "@catenet/domain/values/AuditEffect"
import { PublicKey } from "@catenet/domain/values/Keys"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often, refusal } from "../values/history.ts"

const Event = Schema.Struct({
  kind: Schema.Literals(["issue", "redeem", "redeem", "redeem", "delete", "replace"]),
  token: between(0, 7),
  agent: Schema.Literals(["pi", "lab"]),
  key: between(0, 2),
  proofValid: Schema.Literals([true, true, true, false])
})

const keyOf = (n: number) => PublicKey.make(String(n + 1).repeat(64))

describe("join tokens", () => {
  it.prop(
    "a token enrolls one agent, which alone is recognized afterwards, and no agent after it was taken back",
    [history(Event)],
    ([events]) => {
      const tokens = new Map<number, JoinToken>()
      const model = new Map<number, "free" | "used" | "gone">()
      const serving = new Map<number, number>()
      const bindings = new Map<number, number>()
      for (const { agent, key, kind, proofValid, token } of events) {
        const state = tokens.get(token) ?? null
        const tenant = Tenant.make(`t${token}`)
        if (kind === "issue") {
          if (state === null && !model.has(token)) {
            tokens.set(token, { _tag: "Issued", tenant })
            model.set(token, "free")
          }
        } else if (kind === "delete") {
          // A token that was redeemed stays on record.
          if (state?._tag === "Issued") tokens.delete(token)
          if (model.get(token) === "free") model.set(token, "gone")
        } else if (kind === "replace") {
          if (state?._tag === "Redeemed") tokens.set(token, { ...state, keys: [] })
          serving.delete(token)
        } else {
          const pubkey = keyOf(key)
          const answer = redeem(state, { agent: AgentId.make(agent), pubkey, proofValid })
          const status = model.get(token)
          assert.strictEqual(
            refusal(answer),
            !proofValid
              ? "JoinProofRefused"
              : status === "used"
                ? serving.get(token) === key
                  ? "AgentAlreadyEnrolled"
                  : "JoinTokenSpent"
                : status === "free"
                  ? undefined
                  : "JoinTokenUnknown"
          )
          if (Result.isFailure(answer)) continue
          assert.deepStrictEqual(answer.success, {
            next: { _tag: "Redeemed", tenant, keys: [pubkey] },
            effects: [
              { _tag: "BindAgent", agent: AgentId.make(agent), tenant, pubkey },
              audit("agent_enrolled", tenant, agent, pubkey)
            ]
          })
          tokens.set(token, answer.success.next)
          model.set(token, "used")
          serving.set(token, key)
          bindings.set(token, (bindings.get(token) ?? 0) + 1)
          assert.strictEqual(bindings.get(token), 1)
        }
      }
    },
    often
  )
})
