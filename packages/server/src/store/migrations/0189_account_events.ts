/**
 * What happened to the tunnels of an account without anybody's command: triggers write it where it happens. What people did is in
 * the audit log.
 */
import * as Quotas from "@catenet/domain/values/Quotas"
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create table account_events (
    id bigint generated always as identity,
    subject text not null,
    at bigint not null,
    kind text not null,
    action text not null,
    about text not null,
    name text not null,
    detail text not null default '',
    constraint account_events_pkey primary key (id),
    constraint account_events_kind_check check (kind in ('outage', 'access', 'certificate')),
    constraint account_events_subject_check check (subject <> '')
  )`,
  `create index account_events_subject on account_events (subject, id)`,
  `create index account_events_at on account_events (at)`,
  `create function account_events_cap() returns trigger language plpgsql as $$
    begin
      delete from account_events where ctid = any(array(
        select ctid from account_events where subject = new.subject and id < (
          select id from account_events where subject = new.subject order by id desc offset ${Quotas.maxEventsPerAccount - 1} limit 1)
        for update skip locked));
      return null;
    end $$`,
  `create trigger account_events_cap after insert on account_events for each row execute function account_events_cap()`,
  `create function account_event_of_watch() returns trigger language plpgsql as $$
    begin
      insert into account_events (subject, at, kind, action, about, name)
        select t.subject, new.since, 'outage', case when new.is_up then 'tunnel_up' else 'tunnel_down' end, t.id, coalesce(t.hostname, t.name)
        from tunnels t where t.id = new.tunnel_id;
      return null;
    end $$`,
  `create trigger account_event_of_watch after insert on tunnel_watches for each row execute function account_event_of_watch()`,
  `create trigger account_event_of_watch_change after update of is_up on tunnel_watches for each row
    when (old.is_up is distinct from new.is_up) execute function account_event_of_watch()`,
  `create function account_event_of_request() returns trigger language plpgsql as $$
    begin
      insert into account_events (subject, at, kind, action, about, name)
        select t.subject, new.at, 'access', 'access_asked', t.id, coalesce(t.hostname, t.name)
        from tunnels t where t.id = new.tunnel_id;
      return null;
    end $$`,
  `create trigger account_event_of_request after insert on tunnel_access_requests for each row execute function account_event_of_request()`,
  `create function account_event_of_host() returns trigger language plpgsql as $$
    begin
      insert into account_events (subject, at, kind, action, about, name)
        select t.subject, extract(epoch from now())::bigint, 'certificate', 'host_' || new.status, t.id, new.hostname
        from tunnels t where t.routing_token = new.routing_token;
      return null;
    end $$`,
  `create trigger account_event_of_host after update of status on hosts for each row
    when (old.status is distinct from new.status) execute function account_event_of_host()`,
  `create function account_event_of_failure() returns trigger language plpgsql as $$
    begin
      insert into account_events (subject, at, kind, action, about, name, detail)
        select t.subject, new.at, 'certificate', 'certificate_refused', t.id, new.hostname, new.ca || ': ' || coalesce(new.detail, new.reason)
        from hosts h join tunnels t on t.routing_token = h.routing_token where h.hostname = new.hostname;
      return null;
    end $$`,
  `create trigger account_event_of_failure after insert or update on issuance_failures for each row execute function account_event_of_failure()`
)
