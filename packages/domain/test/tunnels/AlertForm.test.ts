import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readAlertForm } from "@catenet/domain/tunnels/AlertForm"

const field = (url: string, minutes: string) => {
  const answer = readAlertForm(url, minutes)
  return Result.isFailure(answer) ? answer.failure.field : undefined
}

describe("the alert form", () => {
  it("accepts https anywhere and http to the own machine", () => {
    for (const url of [
      "https://hooks.example/x?y=1",
      "http://127.0.0.1:9/x",
      "http://localhost/",
      "http://[::1]:8080/"
    ])
      assert.isUndefined(field(url, "5"), url)
    assert.deepStrictEqual(
      readAlertForm(" https://a.example ", " 10080 "),
      Result.succeed({ webhookUrl: "https://a.example", thresholdSeconds: 604_800 })
    )
    assert.deepStrictEqual(
      readAlertForm("https://a.example", "1"),
      Result.succeed({ webhookUrl: "https://a.example", thresholdSeconds: 60 })
    )
  })

  it("refuses every other receiver", () => {
    for (const url of [
      "",
      "/hook",
      "hooks.example",
      "http://hooks.example",
      "http://127.0.0.2/",
      "http://localhost.example/",
      "ftp://a.example/",
      "javascript:alert(1)",
      "https://u@a.example/",
      "https://u:p@a.example/",
      "https://:p@a.example/",
      `https://a.example/${"x".repeat(2031)}`
    ])
      assert.strictEqual(field(url, "5"), "webhook_url", url)
    assert.isUndefined(field(`https://a.example/${"x".repeat(2030)}`, "5"))
  })

  it("refuses every other threshold", () => {
    for (const minutes of ["", "0", "10081", "-5", "1.5", "5m", "1e3", "0x10", "99999999999"])
      assert.strictEqual(field("https://a.example", minutes), "threshold_minutes", minutes)
  })

  it("says why", () => {
    const reasons = (
      [
        ["x", "5"],
        ["https://u@a.example", "5"],
        ["http://a.example", "5"],
        ["https://a.example", "x"]
      ] as const
    ).map(([url, minutes]) => {
      const answer = readAlertForm(url, minutes)
      return Result.isFailure(answer) ? `${answer.failure._tag} ${answer.failure.reason}` : ""
    })
    assert.deepStrictEqual(reasons, [
      "AlertFormInvalid must be an absolute URL of at most 2048 characters",
      "AlertFormInvalid must not carry a user name or a password",
      "AlertFormInvalid must be https, or http to 127.0.0.1, localhost or [::1]",
      "AlertFormInvalid must be a whole number from 1 to 10080"
    ])
  })
})
