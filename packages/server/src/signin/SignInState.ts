/**
 * The state of the platform's own identity provider in the control plane's database, as promises for a program that is
 * not written on Effect. What is over is deleted once a minute.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { SmtpServer } from "../notices/mail/SmtpServer.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"
import * as SignInCodes from "./SignInCodes.ts"
import * as SignInMails from "./SignInMails.ts"
import * as SignInPasskeys from "./SignInPasskeys.ts"
import * as SignInRealm from "./SignInRealm.ts"
import * as SignInRecords from "./SignInRecords.ts"

const prune = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* unixSeconds
  yield* sql`delete from sign_in_records where expires_at <= ${now}`
  yield* sql`delete from sign_in_codes where expires_at <= ${now}`
})

const make = Effect.gen(function* () {
  const { applications, clients, keys, links, users } = yield* SignInRealm.make
  const records = yield* SignInRecords.make
  const codes = yield* SignInCodes.make
  const mails = yield* SignInMails.make
  const passkeys = yield* SignInPasskeys.make
  const sql = yield* SqlClient.SqlClient
  const run = Effect.runPromiseWith(yield* Effect.context())
  /** The user's sessions at the portal. */
  const endSessions = (userId: string) => run(Effect.asVoid(sql`delete from portal_sessions where subject = ${userId}`))
  yield* Effect.catchCause(prune, (cause) => Effect.logWarning("Could not delete old sign-ins.", cause)).pipe(
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped
  )
  return { applications, clients, codes, endSessions, keys, links, mails, passkeys, records, users }
})

export class SignInState extends Context.Service<SignInState>()("server/signin/SignInState", { make }) {
  static readonly layer = Layer.effect(SignInState, SignInState.make).pipe(
    Layer.provide([Sealing.layer, SmtpServer.layer])
  )
}
