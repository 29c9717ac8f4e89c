/** Sign-ins to the portal that are under way, by the hash of the secret that the browser keeps. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table portal_sign_ins (
    secret_hash text primary key check (secret_hash ~ '^[0-9a-f]{64}$'),
    next text not null check (next like '/portal%'),
    expires_at bigint not null
  )`,
  `create index portal_sign_ins_expiry on portal_sign_ins (expires_at)`
)
