/**
 * The caps of sessions and agents are counted by the indexes that were there before. A visitor's sessions at login gates are
 * told apart by equality: `is not distinct from` is answered by no index.
 */
import * as Quotas from "@catenet/domain/values/Quotas"
import * as Statements from "./Statements.ts"

const surplus = (column: string) => `delete from gate_sessions where ctid = any(array(
          select ctid from gate_sessions where ${column} = new.${column} and token_hash <> new.token_hash
          order by expires_at desc, token_hash offset ${Quotas.maxGateSessionsPerVisitor - 1}))`

export const up = Statements.of(
  `create or replace function gate_sessions_cap() returns trigger language plpgsql as $$
    begin
      if new.share_link_id is null then
        ${surplus("subject")};
      else
        ${surplus("share_link_id")};
      end if;
      return null;
    end $$`,
  `drop index gate_sessions_of_visitor`,
  `drop index portal_sessions_of_account`,
  `drop index agents_age`
)
