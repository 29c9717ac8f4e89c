/**
 * When a tunnel may be visited: until an expiry, or inside slots of a weekly schedule, or both.
 *
 * A slot that runs past midnight is written as two. The offset is fixed: there is no daylight saving in it.
 */
import { Effect, Schema } from "effect"
import { atMost } from "../values/BoundedArray.ts"
import { UnixSeconds } from "../values/Numbers.ts"

/** One open stretch of one day. `day` 0 is Monday; minutes count from local midnight; the end is exclusive. */
export class AccessSlot extends Schema.Class<AccessSlot>("AccessSlot")(
  Schema.Struct({
    day: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
    start_minute: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1439 })),
    end_minute: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1440 }))
  }).check(
    Schema.makeFilter(({ start_minute, end_minute }) => start_minute < end_minute, {
      expected: "a slot that ends after it starts"
    })
  )
) {}

/** Slots in the local time of a fixed offset of -12 to +14 hours, in minutes east of UTC. No slots at all means never open. */
export class WeeklySchedule extends Schema.Class<WeeklySchedule>("WeeklySchedule")({
  tz_offset_minutes: Schema.Int.check(Schema.isBetween({ minimum: -720, maximum: 840 })),
  slots: atMost(64, AccessSlot)
}) {}

/** Neither member set means unrestricted. An absent member is read as null and always written. */
export class AccessPolicy extends Schema.Class<AccessPolicy>("AccessPolicy")({
  expires_at: Schema.NullOr(UnixSeconds).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  schedule: Schema.NullOr(WeeklySchedule).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}
