/** The limit of tunnels is refused like the violation of a constraint, which undoes the whole statement that creates one. */
import * as Statements from "./Statements.ts"

const enrolled = "text, text, text, text, integer, text, text, bigint, text, text, bytea, bytea"

export const up = Statements.of(
  `drop function tunnel_enrol(${enrolled})`,
  `drop function tunnel_enrol(${enrolled}, text)`,
  `drop function tunnels_counted(text)`,
  `create function tunnels_admit(of_subject text, usual_most integer) returns boolean language plpgsql as $$
    declare
      most integer;
    begin
      perform pg_advisory_xact_lock(hashtextextended(of_subject, 2));
      most := coalesce((select l.max_tunnels from account_limits l where l.subject = of_subject), usual_most);
      if (select count(*) from tunnels t where t.subject = of_subject) < most then return true; end if;
      raise check_violation using message = 'the account has no room for another tunnel', constraint = 'tunnels_per_account', detail = most::text;
    end $$`
)
