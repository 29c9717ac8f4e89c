/**
 * The form in which an owner sets the hours of a tunnel, and what saving, re-arming and clearing do.
 * A form that is refused changes nothing.
 */
import { Option, Record, Result } from "effect"
import { type Policy, type Schedule, type Slot, splitAtMidnight } from "./AccessWindow.ts"
import { audit, type Audit } from "../values/AuditEffect.ts"
import { refuse, step, type Step } from "../values/Step.ts"

/** The fields as sent: absent, or a text. */
export type Form = Readonly<Record<string, string | undefined>>

/** Which field cannot be used, and why, for the sentence that a person reads. */
export interface AccessFormInvalid {
  readonly _tag: "AccessFormInvalid"
  readonly field: string
  readonly reason: string
}

/** Re-arming a tunnel that has no policy. */
export interface NothingToRearm {
  readonly _tag: "NothingToRearm"
}

/** `PushPolicy` is a call to the edge, null meaning unrestricted. */
export type AccessEffect = { readonly _tag: "PushPolicy"; readonly policy: Policy | null } | Audit

/** Seconds for which re-arming opens a tunnel: 24 hours. */
export const rearmSeconds = 86_400

const invalid = (field: string, reason: string) =>
  refuse<AccessFormInvalid>({ _tag: "AccessFormInvalid", field, reason })

/** An absent field reads as an empty one. */
const textOf = (form: Form, field: string): string => Option.getOrUndefined(Record.get(form, field)) ?? ""

const wholeNumber = (text: string): number | null => (/^-?\d{1,9}$/.test(text.trim()) ? Number(text) : null)

const longMonths = new Set([1, 3, 5, 7, 8, 10, 12])
const leap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const daysIn = (year: number, month: number) => (month === 2 ? (leap(year) ? 29 : 28) : longMonths.has(month) ? 31 : 30)

const dateTime = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?$/

/**
 * Reads `YYYY-MM-DDTHH:MM[:SS]`, with a `T` or a space, as UTC. Null unless it is a moment of the calendar.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { utcSeconds } from "@catenet/domain/tunnels/AccessForm"
 *
 * assert.equal(utcSeconds("2026-01-05T08:00"), 1_767_600_000)
 * assert.equal(utcSeconds("2026-02-29 08:00:01"), null)
 * ```
 */
export const utcSeconds = (text: string): number | null => {
  const match = dateTime.exec(text)
  if (match === null) return null
  const part = (position: number) => Number(match[position] ?? 0)
  const [year, month, date, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const real =
    month >= 1 && month <= 12 && date >= 1 && date <= daysIn(year, month) && hour < 24 && minute < 60 && second < 60
  return real ? Date.UTC(year, month - 1, date, hour, minute, second) / 1000 : null
}

const clock = /^(\d{2}):(\d{2})$/

/** Minutes since midnight; 24:00 is the last one. */
const minuteOfDay = (text: string): number | null => {
  const match = clock.exec(text)
  if (match === null) return null
  const minute = Number(match[1]) * 60 + Number(match[2])
  return Number(match[2]) < 60 && minute <= 1440 ? minute : null
}

const expiry = (form: Form, now: number): Result.Result<number | null, AccessFormInvalid> => {
  const mode = textOf(form, "expiry_mode")
  if (mode === "" || mode === "none") return Result.succeed(null)
  if (mode === "at") {
    const at = utcSeconds(textOf(form, "expires_at"))
    if (at === null) return invalid("expires_at", "must be a date and time, such as 2026-01-31T18:00")
    return at > now ? Result.succeed(at) : invalid("expires_at", "must be in the future")
  }
  if (mode === "in") {
    const hours = wholeNumber(textOf(form, "expires_in_hours"))
    return hours !== null && hours >= 1 && hours <= 8760
      ? Result.succeed(now + hours * 3600)
      : invalid("expires_in_hours", "must be a whole number from 1 to 8760")
  }
  return invalid("expiry_mode", "must be none, at or in")
}

const days = [0, 1, 2, 3, 4, 5, 6]

const schedule = (form: Form): Result.Result<Schedule | null, AccessFormInvalid> => {
  if (form["schedule"] === undefined) return Result.succeed(null)
  const chosen = days.filter((day) => Option.getOrUndefined(Record.get(form, `day${day}`)) !== undefined)
  if (chosen.length === 0) return invalid("day0", "at least one day must be chosen")
  const start_minute = minuteOfDay(textOf(form, "start"))
  if (start_minute === null || start_minute === 1440) return invalid("start", "must be a time from 00:00 to 23:59")
  const end_minute = minuteOfDay(textOf(form, "end"))
  if (end_minute === null) return invalid("end", "must be a time from 00:01 to 24:00")
  if (end_minute <= start_minute) return invalid("end", "must be after the start")
  const tz_offset_minutes = wholeNumber(form["tz_offset"] ?? "0")
  if (tz_offset_minutes === null || tz_offset_minutes < -720 || tz_offset_minutes > 840)
    return invalid("tz_offset", "must be minutes east of UTC, from -720 to 840")
  return Result.succeed({
    tz_offset_minutes,
    slots: chosen.map((day): Slot => ({ day, start_minute, end_minute }))
  })
}

/**
 * The policy that a form asks for, given the one in force. Null: unrestricted. `rearm`, with any value, keeps the schedule
 * and opens the tunnel for 24 hours; all other fields are then ignored.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { readForm } from "@catenet/domain/tunnels/AccessForm"
 *
 * const form = { schedule: "on", day0: "on", start: "09:00", end: "17:00", expiry_mode: "in", expires_in_hours: "2" }
 * assert.deepEqual(Result.getOrThrow(readForm(form, null, 1000)), {
 *   expires_at: 8200,
 *   schedule: { tz_offset_minutes: 0, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }
 * })
 * assert.equal(Result.getOrThrow(readForm({}, null, 1000)), null)
 * ```
 */
export const readForm = (
  form: Form,
  current: Policy | null,
  now: number
): Result.Result<Policy | null, AccessFormInvalid | NothingToRearm> => {
  if (form["rearm"] !== undefined) {
    // A schedule without an expiry opens by itself.
    if (current === null || current.expires_at === null) return refuse({ _tag: "NothingToRearm" })
    return Result.succeed({ ...current, expires_at: now + rearmSeconds })
  }
  return Result.flatMap(expiry(form, now), (expires_at) =>
    Result.map(schedule(form), (hours) =>
      expires_at === null && hours === null ? null : { expires_at, schedule: hours }
    )
  )
}

/**
 * `Saved` carries the form, `Replaced` a whole policy; `HostAuthorized` repeats the policy to an edge that may have lost
 * it.
 */
export type AccessEvent =
  | { readonly _tag: "Saved"; readonly form: Form }
  | { readonly _tag: "Replaced"; readonly policy: Policy }
  | { readonly _tag: "Cleared" }
  | { readonly _tag: "HostAuthorized" }

/** A policy that restricts nothing is none, and one that has expired already was not meant. */
const readPolicy = (policy: Policy, now: number): Result.Result<Policy | null, AccessFormInvalid> => {
  const { expires_at, schedule: hours } = policy
  if (expires_at !== null && expires_at <= now) return invalid("expires_at", "must be in the future")
  return Result.succeed(expires_at === null && hours === null ? null : policy)
}

const push = (policy: Policy | null): AccessEffect => ({
  _tag: "PushPolicy",
  policy: policy === null ? null : splitAtMidnight(policy)
})

/**
 * The machine of one tunnel's access window; the state is the policy in force, null when unrestricted.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { transition } from "@catenet/domain/tunnels/AccessForm"
 *
 * const tunnel = { id: "t1", subject: "ada" }
 * const expired = { expires_at: 100, schedule: null }
 * const { effects, next } = Result.getOrThrow(transition(tunnel, expired, { _tag: "Saved", form: { rearm: "1" } }, 200))
 * assert.deepEqual(next, { expires_at: 86_600, schedule: null })
 * assert.deepEqual(effects.map((effect) => effect._tag), ["PushPolicy", "Audit"])
 * ```
 */
export const transition = (
  tunnel: { readonly id: string; readonly subject: string },
  current: Policy | null,
  event: AccessEvent,
  now: number
): Result.Result<Step<Policy | null, AccessEffect>, AccessFormInvalid | NothingToRearm> => {
  const cleared = () =>
    step<Policy | null, AccessEffect>(
      null,
      push(null),
      audit("tunnel_access_policy_cleared", tunnel.subject, tunnel.id)
    )
  const set = (policy: Policy | null) =>
    policy === null
      ? cleared()
      : step<Policy | null, AccessEffect>(
          policy,
          push(policy),
          audit("tunnel_access_policy_set", tunnel.subject, tunnel.id, JSON.stringify(policy))
        )
  switch (event._tag) {
    case "HostAuthorized":
      return current === null ? step(current) : step(current, push(current))
    case "Cleared":
      return cleared()
    case "Replaced":
      return Result.flatMap(readPolicy(event.policy, now), set)
    case "Saved":
      return Result.flatMap(readForm(event.form, current, now), set)
  }
}
