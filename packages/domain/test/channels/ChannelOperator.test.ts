import { ChannelId, ChannelRegistration } from "@catenet/domain/channels/Channel"
import { NotChannelOwner, OperatorMismatch } from "@catenet/domain/channels/ChannelErrors"
import { deregister, OperatorProof, register, type StoredChannel } from "@catenet/domain/channels/ChannelOperator"
import { Subject } from "@catenet/domain/values/Ids"
import { OperatorKey } from "@catenet/domain/values/Keys"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { history, often } from "../values/history.ts"

const channel = Schema.decodeSync(ChannelId)("c".repeat(64))
const keyOf = (digit: string) => Schema.decodeSync(OperatorKey)(digit.repeat(64))

const Account = Schema.Literals(["Ada", "bob"])
const Event = Schema.Union([
  Schema.TaggedStruct("Register", {
    subject: Account,
    operator: Schema.Literals(["1", "2"]),
    confirm_rekey: Schema.Boolean,
    proof: Schema.Literals(["none", "key"])
  }),
  Schema.TaggedStruct("Deregister", { subject: Account })
])

describe("channel operators", () => {
  it.prop(
    "the key changes only with its owner's confirmation, and every change is audited",
    [history(Event)],
    ([events]) => {
      let state: StoredChannel | null = null
      let owner: Subject | undefined
      let key: OperatorKey | undefined
      let proof: OperatorProof = "none"
      for (const event of events) {
        const subject = Subject.make(event.subject)
        const entry = (action: string, detail = "") => ({
          _tag: "Audit" as const,
          action,
          actor: subject.toLowerCase(),
          target: channel,
          detail
        })
        if (event._tag === "Deregister") {
          const answer = deregister(state, subject, channel)
          if (owner !== subject) assert.deepStrictEqual(answer, Result.fail(new NotChannelOwner()))
          else {
            owner = key = undefined
            const { effects, next } = Result.getOrThrow(answer)
            assert.deepStrictEqual(effects, [entry("channel_deregistered")])
            state = next
          }
        } else {
          const { confirm_rekey } = event
          const operator_pubkey = keyOf(event.operator)
          const request = new ChannelRegistration({ channel, operator_pubkey, confirm_rekey })
          const answer = register(state, subject, request, event.proof)
          if (owner === undefined) {
            owner = subject
            key = operator_pubkey
            proof = event.proof
            const { effects } = Result.getOrThrow(answer)
            assert.deepStrictEqual(effects, [entry("channel_registered", operator_pubkey)])
          } else if (owner !== subject && key === operator_pubkey && proof === "none" && event.proof === "key") {
            const { effects } = Result.getOrThrow(answer)
            assert.deepStrictEqual(effects, [
              entry("channel_taken_over", operator_pubkey),
              { ...entry("channel_yielded", operator_pubkey), actor: owner.toLowerCase() }
            ])
            owner = subject
            proof = event.proof
          } else if (owner !== subject || key === undefined) {
            assert.deepStrictEqual(answer, Result.fail(new NotChannelOwner()))
          } else if (key === operator_pubkey) {
            assert.deepStrictEqual(Result.getOrThrow(answer).effects, [])
            if (proof === event.proof || proof === "key") assert.strictEqual(Result.getOrThrow(answer).next, state)
            else proof = event.proof
          } else if (!confirm_rekey) {
            const facts = { channel, registered: key, offered: operator_pubkey }
            assert.deepStrictEqual(answer, Result.fail(new OperatorMismatch(facts)))
          } else {
            const detail = `${key} ${operator_pubkey}`
            key = operator_pubkey
            proof = event.proof
            assert.deepStrictEqual(Result.getOrThrow(answer).effects, [entry("channel_operator_rekeyed", detail)])
          }
          state = Result.isSuccess(answer) ? answer.success.next : state
        }
        assert.deepStrictEqual<StoredChannel | null>(
          state,
          owner === undefined || key === undefined ? null : { owner, operatorPubkey: key, proof }
        )
      }
    },
    often
  )

  it.prop(
    "of two accounts the one with more proof has a channel, and among equals the first; another chosen id's key proves nothing",
    [Schema.Struct({ stored: OperatorProof, offered: OperatorProof, sameKey: Schema.Boolean })],
    ([{ offered, sameKey, stored }]) => {
      const state = { owner: Subject.make("eve"), operatorPubkey: keyOf("1"), proof: stored }
      const request = { channel, operator_pubkey: keyOf(sameKey ? "1" : "2") }
      const taken = Result.isSuccess(register(state, Subject.make("ada"), request, offered))
      const expected = offered === "derived" ? stored !== "derived" : offered === "key" && stored === "none" && sameKey
      assert.strictEqual(taken, expected)
    },
    often
  )
})
