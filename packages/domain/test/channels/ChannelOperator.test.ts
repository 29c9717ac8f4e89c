import { type ChannelRegistration, transition } from "@catenet/domain/channels/ChannelOperator"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { history, often } from "../values/history.ts"

const Subject = Schema.Literals(["Ada", "bob"])
const Event = Schema.Union([
  Schema.TaggedStruct("Register", {
    subject: Subject,
    channel: Schema.Literals(["c"]),
    operator: Schema.Literals(["k1", "k2"]),
    confirmRekey: Schema.Boolean
  }),
  Schema.TaggedStruct("Deregister", { subject: Subject, channel: Schema.Literals(["c"]) })
])

describe("channel operators", () => {
  it.prop(
    "the key changes only with its owner's confirmation, and every change is audited",
    [history(Event)],
    ([events]) => {
      let state: ChannelRegistration = { _tag: "Unregistered" }
      let owner: string | undefined
      let key: string | undefined
      for (const event of events) {
        const { subject } = event
        const answer = transition(state, event)
        if (event._tag === "Deregister") {
          if (owner !== subject) assert.deepStrictEqual(answer, Result.fail({ _tag: "NotOwner" }))
          else {
            owner = key = undefined
            assert.deepStrictEqual(Result.getOrThrow(answer).effects, [{ _tag: "DropChannel" }])
          }
        } else {
          const { confirmRekey, operator } = event
          const put = { _tag: "PutOperator", operator } as const
          if (owner === undefined) {
            owner = subject
            key = operator
            assert.deepStrictEqual(Result.getOrThrow(answer).effects, [put])
          } else if (owner !== subject) assert.deepStrictEqual(answer, Result.fail({ _tag: "NotOwner" }))
          else if (key === operator) assert.deepStrictEqual(Result.getOrThrow(answer).effects, [])
          else if (!confirmRekey)
            assert.deepStrictEqual(answer, Result.fail({ _tag: "OperatorDiffers", registered: key ?? "" }))
          else {
            const detail = `${key} ${operator}`
            key = operator
            assert.deepStrictEqual(Result.getOrThrow(answer).effects, [
              put,
              { _tag: "Audit", action: "channel_operator_rekeyed", actor: subject.toLowerCase(), target: "c", detail }
            ])
          }
        }
        state = Result.isSuccess(answer) ? answer.success.next : state
        assert.deepStrictEqual(
          state,
          owner === undefined ? { _tag: "Unregistered" } : { _tag: "Registered", owner, operator: key ?? "" }
        )
      }
    },
    often
  )
})
