import { assert, describe, it } from "@effect/vitest"
import { readAlertForm } from "../../src/portal/TunnelForms.ts"

const minutes = (threshold_minutes: string) => readAlertForm({ threshold_minutes }).thresholdMinutes

describe("the alert form", () => {
  it("reads the receiver as it is written, and a threshold in digits", () => {
    assert.deepStrictEqual(readAlertForm({ webhook_url: " https://a.example ", threshold_minutes: " 10080 " }), {
      webhookUrl: " https://a.example ",
      thresholdMinutes: 10_080
    })
    assert.deepStrictEqual(["1", "0", "10081"].map(minutes), [1, 0, 10_081])
  })

  it("takes every other threshold for no number", () => {
    for (const text of ["", "-5", "1.5", "5m", "1e3", "0x10", "99999999999"]) assert.isNaN(minutes(text), text)
    assert.deepStrictEqual(readAlertForm({}), { webhookUrl: "", thresholdMinutes: Number.NaN })
  })
})
