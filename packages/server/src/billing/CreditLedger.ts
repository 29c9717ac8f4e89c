/** An account held until the transaction ends, and the lines that are written meanwhile. */
import { AccountUnknown } from "@catenet/domain/billing/CreditErrors"
import type { AccountId } from "@catenet/domain/values/Ids"
import type { CreditEffect } from "@catenet/domain/billing/Credits"
import { Effect, Option } from "effect"
import { unixSeconds } from "../runtime/Now.ts"
import * as Store from "./CreditStore.ts"

export const make = Effect.gen(function* () {
  const store = yield* Store.make
  return {
    /** The account with its balance, which nobody else moves until the transaction ends. */
    held: Effect.fnUntraced(function* (account: AccountId) {
      const found = yield* store.find({ account, lock: true })
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new AccountUnknown()
    }),
    /** Writes a line. */
    enter: Effect.fnUntraced(function* ({ account, delta, reason }: Extract<CreditEffect, { _tag: "Entry" }>) {
      yield* store.enter({ account, delta: Number(delta), reason, at: yield* unixSeconds })
    })
  }
})
