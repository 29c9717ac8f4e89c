/** Locks an account until the transaction ends, and writes its ledger entries. */
import type { CreditEffect } from "@catenet/domain/billing/Credits"
import type { AccountId } from "@catenet/domain/values/Ids"
import { Effect, Option } from "effect"
import { unixSeconds } from "../runtime/UnixClock.ts"
import * as Store from "./CreditStore.ts"

export const make = Effect.gen(function* () {
  const store = yield* Store.make
  return {
    /** The account with its balance, which nothing else moves until the transaction ends; null when it is unknown. */
    held: (account: AccountId) => Effect.map(store.find({ account, lock: true }), Option.getOrNull),
    /** Writes a line. */
    enter: Effect.fnUntraced(function* ({ account, delta, reason }: Extract<CreditEffect, { _tag: "Entry" }>) {
      yield* store.enter({ account, delta, reason, at: yield* unixSeconds })
    })
  }
})
