/** When a tunnel is open: the current state, and the form for an expiry, a weekly schedule, or both. */
import { outlook } from "@catenet/domain/edges/AccessPolicy"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { durationText, timeText } from "@catenet/domain/values/Format"
import { markup } from "@catenet/platform/Markup"
import { Option, Record } from "effect"
import { button, checkbox, choice, field, type Sent, valuesOf } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"
import type { Controls } from "./Controls.ts"

const days = [0, 1, 2, 3, 4, 5, 6] as const

/** Whole hours from -12 to +14, and the two half hours that the form offers. */
const offsets = [...Array.from({ length: 27 }, (_, hour) => (hour - 12) * 60), 330, 570].toSorted((a, b) => a - b)

const two = (n: number) => String(n).padStart(2, "0")
const clock = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
const offsetText = (minutes: number) => `UTC${minutes < 0 ? "-" : "+"}${clock(Math.abs(minutes))}`

export const stateLine = (texts: Texts, { now, window: { policy } }: Pick<Controls, "now" | "window">): string => {
  const found = outlook(policy, now)
  switch (found._tag) {
    case "Unrestricted":
    case "OpenForGood":
      return texts.windowLines.open
    case "OpenUntilExpiry":
      return texts.windowExpires(durationText(found.at - now), timeText(found.at))
    case "OpenUntilSlotEnd":
      return texts.windowCloses(durationText(found.at - now))
    case "ClosedUntil":
      return texts.windowOpens(durationText(found.at - now))
    case "Expired":
      return texts.windowExpired(timeText(found.at))
    case "ClosedForGood":
      return texts.windowLines.closed
  }
}

export const render = (texts: Texts, { id }: Tunnel, controls: Controls, sent: Sent | undefined) => {
  const { policy } = controls.window
  const own = `/portal/tunnels/${id}/access`
  const values = valuesOf(texts, sent, "access")
  const isSent = sent?.form === "access"
  const slots = policy?.schedule?.slots ?? []
  const first = slots[0]
  const expires = policy?.expires_at ?? null
  const isOn = (name: string, now: boolean) =>
    isSent ? Option.getOrUndefined(Record.get(sent.fields, name)) !== undefined : now
  const reasonOfDays = values("day0").refused
  return markup`<div class="pad" id="access"><p>${stateLine(texts, controls)}</p><details${isSent ? markup` open` : undefined}><summary>${texts.windowChange}</summary>
    <form method="post" action="${own}">
      ${choice({
        ...values("expiry_mode", expires === null ? "none" : "at"),
        label: texts.expiryMode,
        options: [
          ["none", texts.expiryModes.none],
          ["at", texts.expiryModes.at],
          ["in", texts.expiryModes.in]
        ]
      })}
      <div class="row">
      ${field({
        ...values("expires_at", expires === null ? "" : timeText(expires).replace(" ", "T")),
        type: "datetime-local",
        label: texts.expiresAt,
        isOptional: true
      })}
      ${field({ ...values("expires_in_hours"), type: "number", label: texts.expiresIn, isOptional: true })}
      </div>
      ${checkbox({ name: "schedule", label: texts.schedule, isChecked: isOn("schedule", slots.length > 0) })}
      <fieldset${reasonOfDays === undefined ? undefined : markup` aria-describedby="days-error"`}><legend>${texts.weekdaysTitle}</legend>${days.map(
        (day) =>
          checkbox({
            name: `day${day}`,
            refused: day === 0 ? reasonOfDays : undefined,
            sentence: "days-error",
            label: texts.weekdays[day],
            isChecked: isOn(
              `day${day}`,
              slots.some((slot) => slot.day === day)
            )
          })
      )}${reasonOfDays === undefined ? undefined : markup`<p class="error" id="days-error">${reasonOfDays.reason}</p>`}</fieldset>
      <div class="row">
      ${field({ ...values("start", first === undefined ? "08:00" : clock(first.start_minute)), label: texts.windowStart, isOptional: true })}
      ${field({ ...values("end", first === undefined ? "18:00" : clock(first.end_minute)), label: texts.windowEnd, isOptional: true })}
      ${field({ ...values("time_zone", policy?.schedule?.time_zone ?? ""), label: texts.windowPlace, hint: texts.windowPlaceHint, isOptional: true })}
      ${choice({
        ...values("tz_offset", String(policy?.schedule?.tz_offset_minutes ?? 0)),
        label: texts.windowZone,
        options: offsets.map((minutes) => [String(minutes), offsetText(minutes)] as const)
      })}
      </div>
      <button>${texts.windowSave}</button></form></details>
    ${
      policy === null
        ? undefined
        : markup`<div class="row">
            <form method="post" action="${own}"><input type="hidden" name="rearm" value="1"><button>${texts.windowRearm}</button></form>
            ${button(`${own}/clear`, texts.windowClear)}</div>`
    }</div>`
}
