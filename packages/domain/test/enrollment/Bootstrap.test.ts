import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type Bootstrap, bootstrapSeconds, redeem } from "@catenet/domain/enrollment/Bootstrap"
import { between, history, often } from "../values/history.ts"

const Event = Schema.Struct({
  mint: Schema.Literals([true, false, false]),
  wait: between(0, 500),
  token: between(0, 30)
})

describe("bootstrap tokens", () => {
  it.prop(
    "the first attempt spends the token, in time or not",
    [history(Event)],
    ([events]) => {
      assert.strictEqual(bootstrapSeconds, 600)
      const tokens: Array<{ state: Bootstrap<string>; until: number; attempts: number }> = []
      let now = 0
      for (const { mint, token, wait } of events) {
        now += wait
        if (mint) {
          tokens.push({
            state: { _tag: "Sealed", secret: `s${tokens.length}`, expiresAt: now + 600 },
            until: now + 600,
            attempts: 0
          })
          continue
        }
        const index = token % Math.max(tokens.length, 1)
        const record = tokens[index]
        if (record === undefined) continue
        const { answer, next } = redeem(record.state, now)
        assert.deepStrictEqual(next, { _tag: "Spent" })
        assert.deepStrictEqual(
          answer,
          record.attempts > 0
            ? Result.fail({ _tag: "AlreadyUsed" })
            : now > record.until
              ? Result.fail({ _tag: "Expired" })
              : Result.succeed(`s${index}`)
        )
        record.state = next
        record.attempts++
      }
    },
    often
  )

  it("lives through its last second", () => {
    const sealed = { _tag: "Sealed", secret: "s", expiresAt: 100 } as const
    assert.isTrue(Result.isSuccess(redeem(sealed, 100).answer))
    assert.isTrue(Result.isFailure(redeem(sealed, 101).answer))
  })
})
