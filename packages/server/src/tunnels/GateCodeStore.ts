/** The table of codes that are exchanged once for a visitor's session. Only hashes are stored. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Sealing } from "../store/Sealing.ts"

/** What a sign-in or a share link gave, wherever the visitor shows it. */
export interface Visitor {
  readonly subject: string | null
  readonly email: string | null
  readonly shareLinkId: string | null
  /** All sessions and codes of one sign-in end together. */
  readonly signIn: string
  /** When the session expires. */
  readonly expiresAt: number
}

export interface Code extends Visitor {
  readonly codeHash: string
  /** SHA-256 of what the browser keeps that began the sign-in. */
  readonly browser: string
  readonly host: string
  readonly path: string
  readonly codeExpiresAt: number
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  return {
    /** The path may carry a secret of the host's. */
    keep: ({ codeExpiresAt, expiresAt, path, ...code }: Code) =>
      sql`insert into gate_codes ${sql.insert({
        ...code,
        path: sealing.seal("gate_codes.path", path),
        sessionExpiresAt: expiresAt,
        expiresAt: codeExpiresAt
      })}`,
    /** Exchanges a code in one statement: of two browsers that show it at once, one gets the session. */
    exchange: SqlSchema.findOneOption({
      Request: Schema.Struct({
        codeHash: Schema.String,
        host: Schema.String,
        browser: Schema.String,
        tokenHash: Schema.String,
        now: Schema.Int
      }),
      Result: Schema.Struct({ path: sealing.column("gate_codes.path", Schema.String), expiresAt: Schema.Int }),
      execute: ({ browser, codeHash, host, now, tokenHash }) => sql`
        with taken as (
          delete from gate_codes where code_hash = ${codeHash} and host = ${host} and browser = ${browser}
            and expires_at > ${now} and session_expires_at > ${now} returning *),
        opened as (
          insert into gate_sessions (token_hash, host, subject, email, share_link_id, sign_in, expires_at)
          select ${tokenHash}, host, subject, email, share_link_id, sign_in, session_expires_at from taken)
        select path, session_expires_at as expires_at from taken`
    }),
    /** A code that is being exchanged is waited for, so that the session it gives is found afterwards. */
    drop: (signIn: string) => sql`delete from gate_codes where sign_in = ${signIn}`,
    dropOf: (subject: string) => sql`delete from gate_codes where subject = ${subject}`,
    prune: (now: number) => sql`delete from gate_codes where expires_at <= ${now}`
  }
})

export class GateCodeStore extends Context.Service<GateCodeStore>()("server/tunnels/GateCodeStore", { make }) {
  static readonly layer = Layer.effect(GateCodeStore, GateCodeStore.make)
}
