/** The form in which an owner sets the alert of a tunnel. Whether the receiver's address is a private one is not decided here. */
import { Result } from "effect"
import { refuse } from "../values/Step.ts"

/** A usable form: the receiver as an absolute URL, and the threshold in seconds. */
export interface AlertSettings {
  readonly webhookUrl: string
  readonly thresholdSeconds: number
}

/** Which field cannot be used, and why. */
export interface AlertFormInvalid {
  readonly _tag: "AlertFormInvalid"
  readonly field: "webhook_url" | "threshold_minutes"
  readonly reason: string
}

const loopback = new Set(["127.0.0.1", "localhost", "[::1]"])

const receiver = (text: string): Result.Result<string, AlertFormInvalid> => {
  const unusable = (reason: string) =>
    refuse<AlertFormInvalid>({ _tag: "AlertFormInvalid", field: "webhook_url", reason })
  const url = text.length <= 2048 ? URL.parse(text) : null
  if (url === null) return unusable("must be an absolute URL of at most 2048 characters")
  if (url.username !== "" || url.password !== "") return unusable("must not carry a user name or a password")
  if (url.protocol === "https:" || (url.protocol === "http:" && loopback.has(url.hostname))) return Result.succeed(text)
  return unusable("must be https, or http to 127.0.0.1, localhost or [::1]")
}

/**
 * Reads the two fields of the form.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { readAlertForm } from "@catenet/domain/tunnels/AlertForm"
 *
 * assert.deepEqual(Result.getOrThrow(readAlertForm(" https://hooks.example/x ", "5")), {
 *   webhookUrl: "https://hooks.example/x",
 *   thresholdSeconds: 300
 * })
 * assert.ok(Result.isFailure(readAlertForm("http://hooks.example/x", "5")))
 * assert.ok(Result.isFailure(readAlertForm("https://hooks.example/x", "0")))
 * ```
 */
export const readAlertForm = (
  webhookUrl: string,
  thresholdMinutes: string
): Result.Result<AlertSettings, AlertFormInvalid> =>
  Result.flatMap(receiver(webhookUrl.trim()), (url) => {
    const text = thresholdMinutes.trim()
    const minutes = /^\d{1,5}$/.test(text) ? Number(text) : 0
    return minutes >= 1 && minutes <= 10_080
      ? Result.succeed({ webhookUrl: url, thresholdSeconds: minutes * 60 })
      : refuse({
          _tag: "AlertFormInvalid",
          field: "threshold_minutes",
          reason: "must be a whole number from 1 to 10080"
        })
  })
