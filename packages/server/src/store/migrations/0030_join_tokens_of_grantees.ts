/**
 * A join token that a grantee was given and that was not redeemed goes with the grant, whatever removes the grant, and
 * however close together the two are.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table join_tokens
    add column grantee text,
    add constraint join_tokens_of_a_grant
      foreign key (tunnel, grantee) references tunnel_grants (tunnel_id, grantee) on delete cascade`,
  `create index join_tokens_grant on join_tokens (tunnel, grantee) where grantee is not null`
)
