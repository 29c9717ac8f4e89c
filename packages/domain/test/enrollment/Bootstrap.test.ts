import { type Bootstrap, bootstrapSeconds, redeem } from "@catenet/domain/enrollment/Bootstrap"
import { PublicKey } from "@catenet/domain/values/Keys"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const Event = Schema.Struct({
  mint: Schema.Literals([true, false, false]),
  wait: between(0, 500),
  token: between(0, 30),
  key: between(0, 2)
})

const keys = [null, PublicKey.make("11".repeat(32)), PublicKey.make("22".repeat(32))]

/** The secret that an answer carries, and its tag where it is a refusal. */
const answered = ({ answer }: ReturnType<typeof redeem>) =>
  Result.match(answer, {
    onSuccess: (secret) => ["given", Redacted.value(secret)],
    onFailure: (refusal) => [refusal._tag, "secret" in refusal ? Redacted.value(refusal.secret) : ""]
  })

const sealed = (expiresAt: number, text = "s"): Bootstrap => ({
  _tag: "Sealed",
  secret: Redacted.make(text),
  expiresAt
})

describe("bootstrap tokens", () => {
  it.prop(
    "the first attempt spends the token, in time or not, and only its key is given the secret again",
    [history(Event)],
    ([events]) => {
      assert.strictEqual(bootstrapSeconds, 600)
      const tokens: Array<{ state: Bootstrap; until: number; attempts: number; owedTo: PublicKey | null }> = []
      let now = 0
      for (const { key, mint, token, wait } of events) {
        now += wait
        if (mint) {
          tokens.push({ state: sealed(now + 600, `s${tokens.length}`), until: now + 600, attempts: 0, owedTo: null })
          continue
        }
        const index = token % Math.max(tokens.length, 1)
        const record = tokens[index]
        if (record === undefined) continue
        const by = keys[key] ?? null
        const inTime = now <= record.until
        const attempt = redeem(record.state, now, by)
        const secret = `s${index}`
        assert.deepStrictEqual(
          answered(attempt),
          record.attempts === 0
            ? inTime
              ? ["given", secret]
              : ["BootstrapTokenExpired", ""]
            : by !== null && by === record.owedTo && inTime
              ? ["BootstrapAlreadyRedeemed", secret]
              : ["BootstrapTokenSpent", ""]
        )
        if (record.attempts === 0 && inTime) record.owedTo = by
        assert.strictEqual(attempt.next?._tag, record.owedTo !== null && inTime ? "Redeemed" : "Spent")
        record.state = attempt.next ?? assert.fail()
        record.attempts++
      }
    },
    often
  )

  it("live through their last second", () => {
    assert.deepStrictEqual(answered(redeem(sealed(100), 100, null)), ["given", "s"])
    assert.deepStrictEqual(answered(redeem(sealed(100), 101, null)), ["BootstrapTokenExpired", ""])
    const [key] = keys.slice(1)
    const { next } = redeem(sealed(100), 1, key ?? null)
    assert.deepStrictEqual(answered(redeem(next, 100, key ?? null)), ["BootstrapAlreadyRedeemed", "s"])
    assert.deepStrictEqual(answered(redeem(next, 101, key ?? null)), ["BootstrapTokenSpent", ""])
  })

  it("that are not on record are unknown, and stay so", () => {
    const attempt = redeem(null, 1, null)
    assert.deepStrictEqual(answered(attempt), ["BootstrapTokenUnknown", ""])
    assert.isNull(attempt.next)
  })
})
