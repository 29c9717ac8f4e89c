/**
 * An issuance counts for its week once the certificate was seen. One that was only reported counts for an hour, and goes with
 * its host name. Rows of before count as seen: nobody looked.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table issuances add column is_seen boolean not null default true`,
  `alter table issuances alter column is_seen set default false`,
  `alter table issuances add column fingerprint text`,
  `alter table issuances add column looked_at bigint`,
  `create index issuances_unseen on issuances (hostname) where not is_seen`,
  `create index issuances_fingerprint on issuances (fingerprint) where fingerprint is not null`,
  `create function hosts_free_unseen_issuances() returns trigger language plpgsql as $$
    begin
      delete from issuances where hostname = old.hostname and not is_seen;
      return null;
    end $$`,
  `create trigger hosts_free_unseen_issuances after delete on hosts for each row execute function hosts_free_unseen_issuances()`
)
