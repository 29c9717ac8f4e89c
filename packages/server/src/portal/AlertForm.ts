/** The form in which an owner sets the alert of a tunnel. */
import type { Fields } from "../http/FormBody.ts"

/** The receiver as written, and the threshold: not a number unless it is written in one to five digits. */
export const readAlertForm = (form: Fields) => {
  const minutes = (form["threshold_minutes"] ?? "").trim()
  return {
    webhookUrl: form["webhook_url"] ?? "",
    thresholdMinutes: /^\d{1,5}$/.test(minutes) ? Number(minutes) : Number.NaN
  }
}
