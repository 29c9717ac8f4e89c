import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { readAlertForm } from "../../src/portal/TunnelForms.ts"

const minutes = (threshold_minutes: string) => readAlertForm({ threshold_minutes }).thresholdMinutes

describe("the alert form", () => {
  it("reads the receiver as it is written, and a threshold in digits", () => {
    assert.deepInclude(readAlertForm({ webhook_url: " https://a.example ", threshold_minutes: " 10080 " }), {
      webhookUrl: " https://a.example ",
      thresholdMinutes: 10_080
    })
    assert.deepStrictEqual(["1", "0", "10081"].map(minutes), [1, 0, 10_081])
  })

  it("takes every other threshold for no number", () => {
    for (const text of ["", "-5", "1.5", "5m", "1e3", "0x10", "99999999999"]) assert.isNaN(minutes(text), text)
    assert.deepInclude(readAlertForm({}), { webhookUrl: "", thresholdMinutes: Number.NaN })
  })

  it("reads the kind of receiver and its token where the form has them", () => {
    const { format, token } = readAlertForm({ format: "ntfy", token: "tk_1" })
    assert.deepStrictEqual([format, Redacted.value(token)], ["ntfy", "tk_1"])
    assert.isUndefined(readAlertForm({ format: "pager" }).format)
  })
})
