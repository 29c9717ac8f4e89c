/**
 * Certificates that the control plane orders itself, for the platform's names and for gelb hosts, sealed; its accounts at
 * authorities; and up to which revision each edge has them. A host gets its row when it becomes gelb. A revision is drawn under a lock that lasts to the end of the
 * transaction, so that an edge that has seen one has seen all before it.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create sequence platform_certificate_revisions`,
  `create function platform_certificate_revision() returns bigint language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(x'63657274'::int);
      return nextval('platform_certificate_revisions');
    end $$`,
  `create table platform_certificates (
    host text not null,
    domain text generated always as (case when (host ~~ '%.%.%') then substr(host, (strpos(host, '.') + 1)) else host end) stored not null,
    revision bigint default 0 not null,
    chain text,
    key text,
    challenge text,
    account text,
    issued_at bigint,
    ends_at bigint,
    due_at bigint not null,
    busy_until bigint default 0 not null,
    failures integer default 0 not null,
    failure text,
    constraint platform_certificates_pkey primary key (host),
    constraint platform_certificates_whole check ((chain is null) = (key is null) and (chain is null) = (ends_at is null)),
    constraint platform_certificates_key_check check (key ~ '^s1\\.[0-9a-f]{8}\\.'),
    constraint platform_certificates_challenge_check check (challenge ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create index platform_certificates_revision on platform_certificates (revision)`,
  `create index platform_certificates_due on platform_certificates (due_at)`,
  `create index platform_certificates_budget on platform_certificates (domain, issued_at)`,
  `create index platform_certificates_key on platform_certificates (left(key, 12) collate "C") where key is not null`,
  `create table platform_accounts (
    directory text not null,
    key text not null,
    url text,
    constraint platform_accounts_pkey primary key (directory),
    constraint platform_accounts_key_check check (key ~ '^s1\\.[0-9a-f]{8}\\.')
  )`,
  `create index platform_accounts_key on platform_accounts (left(key, 12) collate "C") where key is not null`,
  `create table platform_certificate_edges (
    id text not null,
    revision bigint not null,
    seen_at bigint not null,
    constraint platform_certificate_edges_pkey primary key (id)
  )`,
  `insert into platform_certificates (host, due_at)
    select hostname, extract(epoch from now())::bigint from hosts where status = 'gelb'`,
  // After a failure the pause goes on, whatever an account does with its host.
  `create function platform_certificate_want() returns trigger language plpgsql as $$
    begin
      insert into platform_certificates as p (host, due_at) values (new.hostname, extract(epoch from now())::bigint)
        on conflict (host) do update set due_at = excluded.due_at where p.failures = 0 and p.busy_until = 0;
      return null;
    end $$`,
  `create trigger platform_certificate_want_new after insert on hosts
    for each row when (new.status = 'gelb') execute function platform_certificate_want()`,
  `create trigger platform_certificate_want_again after update of status on hosts
    for each row when (new.status = 'gelb' and old.status <> 'gelb') execute function platform_certificate_want()`,
  `create function platform_certificate_leave() returns trigger language plpgsql as $$
    begin
      delete from platform_certificates where host = old.hostname and chain is null and busy_until = 0 and failures = 0;
      return null;
    end $$`,
  `create trigger platform_certificate_leave after delete on hosts
    for each row when (old.status = 'gelb') execute function platform_certificate_leave()`
)
