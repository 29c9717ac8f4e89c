/**
 * Who did what to what. An entry is written in the transaction of the change that it records; that it could not be
 * written is logged and does not undo the change.
 */
import type { Audit } from "@catenet/domain/rules/Audit"
import { Context, Effect, Layer } from "effect"
import { unixSeconds } from "../Now.ts"
import * as Store from "./Store.ts"

const make = Effect.gen(function* () {
  const store = yield* Store.make
  return {
    /** Writes one entry, inside the caller's transaction when there is one. */
    append: ({ action, actor, detail, target }: Audit) =>
      Effect.flatMap(unixSeconds, (at) => store.savepoint(store.insert({ actor, action, target, detail, at }))).pipe(
        Effect.asVoid,
        Effect.catch((cause) => Effect.logError("An audit entry could not be written.", cause, { action, target }))
      ),
    /** Entries, newest first. */
    list: (query: Store.Query) => Effect.orDie(store.list(query)),
    /** Forgets entries that are older than so many days. */
    retain: (days: number) =>
      Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(store.forget(now - days * 86_400))))
  }
})

export type AuditQuery = Store.Query

export class Audits extends Context.Service<Audits, Effect.Success<typeof make>>()("server/Audits") {
  static readonly layer = Layer.effect(Audits, make)
}
