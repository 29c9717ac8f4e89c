/** An insert that is conditional on room answers no row where there is none. */
import { Count } from "@catenet/domain/values/Numbers"
import { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Effect } from "effect"

/** Refuses an insert without a row; `of` is what there are too many of. */
export const insertWithinQuota = (of: string, limit: number) => (rows: ReadonlyArray<unknown>) =>
  rows.length > 0 ? Effect.void : Effect.fail(new LimitReached({ of, limit: Count.make(limit) }))
