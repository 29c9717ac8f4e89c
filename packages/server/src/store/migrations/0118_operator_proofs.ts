/** What the account that registered a channel has proved about its operator key. Earlier registrations are without proof. */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table channels add column proof text not null default 'none' check (proof in ('none', 'key', 'derived'))`
)
