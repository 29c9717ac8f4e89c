/**
 * Who did what to what. An entry is written in the transaction of the change that it records; that it could not be
 * written is logged and does not undo the change.
 */
import type { Audit } from "@catenet/domain/values/AuditEffect"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { unixSeconds } from "../runtime/Now.ts"
import * as Store from "./AuditStore.ts"

const factsOf = ({ action, target }: Audit) => ({ action, target })

const complain = (entry: Audit, written: Store.Refusal | undefined) =>
  written === undefined || written.refusal === null
    ? Effect.void
    : Effect.logError("An audit entry could not be written.", written.refusal, factsOf(entry))

const make = Effect.gen(function* () {
  const store = yield* Store.make
  return {
    /** Writes one entry, inside the caller's transaction when there is one. */
    append: (entry: Audit) =>
      Effect.flatMap(unixSeconds, (at) => store.append({ ...entry, at })).pipe(
        Effect.flatMap(([written]) => complain(entry, written)),
        Effect.catch((cause) => Effect.logError("An audit entry could not be written.", cause, factsOf(entry)))
      ),
    /** Writes one entry with the statement that it records, when that changes a row; whether it did. */
    appendTo: (statement: Statement.Fragment, entry: Audit) =>
      Effect.flatMap(unixSeconds, (at) => store.appendTo(statement, { ...entry, at })).pipe(
        Effect.tap(([written]) => complain(entry, written)),
        Effect.map((rows) => rows.length > 0)
      ),
    /** Complains of an entry that a statement of its own has tried to write. */
    complain,
    /** Entries, newest first. */
    list: (query: Store.Query) => Effect.orDie(store.list(query)),
    /** Removes entries that are older than the database keeps. */
    prune: Effect.asVoid(Effect.orDie(store.prune))
  }
})

export type AuditQuery = Store.Query

export class Audits extends Context.Service<Audits, Effect.Success<typeof make>>()("server/Audits") {
  static readonly layer = Layer.effect(Audits, make)
}
