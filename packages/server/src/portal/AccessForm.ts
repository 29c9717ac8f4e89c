/** The form in which an owner sets the hours of a tunnel. */
import {
  AccessPolicy,
  AccessSlot,
  dayMinutes,
  isZone,
  maxExpiryHours,
  maxOffsetMinutes,
  minOffsetMinutes,
  TimeZoneName,
  WeeklySchedule
} from "@catenet/domain/edges/AccessPolicy"
import { AccessRefused } from "@catenet/domain/tunnels/TunnelErrors"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { DateTime, Option, Record, Result, Schema } from "effect"
import type { Fields } from "../http/FormBody.ts"

const invalid = (field: string, reason: string) => Result.fail(new AccessRefused({ field, reason }))

/** An absent field reads as an empty one. */
const textOf = (form: Fields, field: string): string => Option.getOrUndefined(Record.get(form, field)) ?? ""

const wholeNumber = (text: string): number | null => (/^-?\d{1,9}$/.test(text.trim()) ? Number(text) : null)

const dateTime = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?$/

/**
 * Reads `YYYY-MM-DDTHH:MM[:SS]`, with a `T` or a space, as UTC seconds. Null unless the calendar has the moment: a date
 * that `DateTime` moves, such as 30 February, is written back otherwise.
 */
export const utcSeconds = (text: string): UnixSeconds | null => {
  const [, date = "", time = "", seconds = ":00"] = dateTime.exec(text) ?? []
  const written = `${date}T${time}${seconds}.000Z`
  const moment = Option.getOrUndefined(DateTime.make(written))
  if (moment === undefined || DateTime.formatIso(moment) !== written) return null
  return UnixSeconds.make(DateTime.toEpochMillis(moment) / 1000)
}

const clock = /^(\d{2}):(\d{2})$/

/** Minutes since midnight; 24:00 is the last one. */
const minuteOfDay = (text: string): number | null => {
  const match = clock.exec(text)
  if (match === null) return null
  const minute = Number(match[1]) * 60 + Number(match[2])
  return Number(match[2]) < 60 && minute <= dayMinutes ? minute : null
}

const expiry = (form: Fields, now: number): Result.Result<UnixSeconds | null, AccessRefused> => {
  const mode = textOf(form, "expiry_mode")
  if (mode === "" || mode === "none") return Result.succeed(null)
  if (mode === "at") {
    const at = utcSeconds(textOf(form, "expires_at"))
    if (at === null) return invalid("expires_at", "must be a date and time, such as 2026-01-31T18:00")
    return at > now ? Result.succeed(at) : invalid("expires_at", "must be in the future")
  }
  if (mode === "in") {
    const hours = wholeNumber(textOf(form, "expires_in_hours"))
    return hours !== null && hours >= 1 && hours <= maxExpiryHours
      ? Result.succeed(UnixSeconds.make(now + hours * 3600))
      : invalid("expires_in_hours", `must be a whole number from 1 to ${maxExpiryHours}`)
  }
  return invalid("expiry_mode", "must be none, at or in")
}

const days = [0, 1, 2, 3, 4, 5, 6]

const schedule = (form: Fields): Result.Result<WeeklySchedule | null, AccessRefused> => {
  if (form["schedule"] === undefined) return Result.succeed(null)
  const chosen = days.filter((day) => Option.getOrUndefined(Record.get(form, `day${day}`)) !== undefined)
  if (chosen.length === 0) return invalid("day0", "at least one day must be chosen")
  const start_minute = minuteOfDay(textOf(form, "start"))
  if (start_minute === null || start_minute === dayMinutes)
    return invalid("start", "must be a time from 00:00 to 23:59")
  const end_minute = minuteOfDay(textOf(form, "end"))
  if (end_minute === null) return invalid("end", "must be a time from 00:01 to 24:00")
  if (end_minute <= start_minute) return invalid("end", "must be after the start")
  const tz_offset_minutes = wholeNumber(form["tz_offset"] ?? "0")
  if (tz_offset_minutes === null || tz_offset_minutes < minOffsetMinutes || tz_offset_minutes > maxOffsetMinutes)
    return invalid("tz_offset", `must be minutes east of UTC, from ${minOffsetMinutes} to ${maxOffsetMinutes}`)
  const time_zone = textOf(form, "time_zone").trim()
  if (time_zone !== "" && !(Schema.is(TimeZoneName)(time_zone) && isZone(time_zone)))
    return invalid("time_zone", "must be a name of the IANA time zone database, such as Europe/Berlin")
  const slots = chosen.map((day) => new AccessSlot({ day, start_minute, end_minute }))
  return Result.succeed(new WeeklySchedule({ tz_offset_minutes, slots, ...(time_zone === "" ? {} : { time_zone }) }))
}

/** The policy that a form asks for; null: unrestricted. */
export const readAccessForm = (form: Fields, now: number): Result.Result<AccessPolicy | null, AccessRefused> =>
  Result.flatMap(expiry(form, now), (expires_at) =>
    Result.map(schedule(form), (hours) =>
      expires_at === null && hours === null ? null : new AccessPolicy({ expires_at, schedule: hours })
    )
  )
