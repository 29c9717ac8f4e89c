/** The verified address under which an account was last seen: by it, its service accounts may call, or not. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table account_emails (
    subject text primary key check (subject <> ''),
    email text not null check (email <> '')
  )`,
  `insert into account_emails (subject, email)
    select distinct on (subject) subject, email from portal_sessions where email is not null
    order by subject, created_at desc`
)
