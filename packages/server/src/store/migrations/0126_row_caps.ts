/**
 * Caps of tables that grew with what one caller, account or address does. Each is held where rows are written, so that no writer
 * can forget it: the oldest rows of whoever has the most give way. A change of one of these constants needs a migration that
 * makes its function anew.
 */
import * as Quotas from "@catenet/domain/values/Quotas"
import * as Statements from "./Statements.ts"

/** A function for a trigger, and the trigger after each insert. */
const capped = (table: string, when: string, body: string) => [
  `create function ${table}_cap() returns trigger language plpgsql as $$
    begin
      ${body}
      return null;
    end $$`,
  `create trigger ${table}_cap after insert on ${table} for each row when (${when}) execute function ${table}_cap()`
]

export const up = Statements.of(
  `alter table idempotent_answers add column caller text not null default ''`,
  `create index idempotent_answers_caller on idempotent_answers (caller, created_at, key_hash) where caller <> ''`,
  ...capped(
    "idempotent_answers",
    "new.caller <> ''",
    `delete from idempotent_answers where ctid = any(array(
        select ctid from idempotent_answers where caller = new.caller and caller <> ''
          and (created_at, key_hash) < (
            select created_at, key_hash from idempotent_answers where caller = new.caller and caller <> ''
            order by created_at desc, key_hash desc offset ${Quotas.maxAnswersPerCaller - 1} limit 1)
          and sealed is not null for update skip locked));`
  ),
  `create function tunnel_enrol(of_id text, by_subject text, named text, token text, usual_most integer, actor text, action text, moment bigint, key text, request text, answer_nonce bytea, answer_sealed bytea, key_caller text, out is_new boolean, out refusal text) returns record language plpgsql as $$
    begin
      if key is not null then
        insert into idempotent_answers (key_hash, request_hash, caller, created_at, nonce, sealed)
          values (key, request, key_caller, moment, answer_nonce, answer_sealed) on conflict (key_hash) do nothing;
        is_new := found;
        if not is_new then return; end if;
      end if;
      select n.held < coalesce(n.most, usual_most) into is_new from tunnels_counted(by_subject) n;
      if is_new then
        insert into tunnels (id, subject, name, routing_token, created_at)
          values (of_id, by_subject, named, token, moment);
        refusal := audit_append(actor, action, of_id, '', moment);
      elsif key is not null then
        delete from idempotent_answers where key_hash = key;
      end if;
    end $$`,

  `alter table revoked_tokens add column holder text`,
  // The account may be deleted before its revocations end.
  `create function revocation_holder(subject text) returns text language sql immutable as $$
    select encode(sha256(convert_to(subject, 'UTF8')), 'hex') $$`,
  `create index revoked_tokens_holder on revoked_tokens (holder, id) where holder is not null`,
  ...capped(
    "revoked_tokens",
    "new.holder is not null",
    `delete from revoked_tokens r where ctid = any(array(
        select ctid from revoked_tokens where holder = new.holder
          and id < (select id from revoked_tokens where holder = new.holder order by id desc offset ${Quotas.maxRevokedPerAccount - 1} limit 1)
        for update skip locked))
        and not exists (select 1 from tunnels t where t.routing_token = r.routing_token)
        and not exists (select 1 from hosts h where h.routing_token = r.routing_token)
        and not exists (select 1 from outbox o where o.queue = r.routing_token and o.refused_at is null)
        and not exists (select 1 from outbox o where o.queue = r.routing_token and o.refused_at is not null);`
  ),

  `alter table invitation_challenges add column block text not null default ''`,
  `create index invitation_challenges_block on invitation_challenges (block, issued_at)`,
  ...capped(
    "invitation_challenges",
    "new.block <> ''",
    `delete from invitation_challenges where ctid = any(array(
        select ctid from invitation_challenges where block = new.block and challenge <> new.challenge
        order by issued_at desc, challenge offset ${Quotas.maxChallengesPerBlock - 1}));`
  ),

  `create index agents_age on agents (tenant, tunnel, grantee, bound_at)`,
  ...capped(
    "agents",
    "true",
    `delete from agents where ctid = any(array(
        select ctid from agents where tenant = new.tenant and tunnel = new.tunnel
          and grantee is not distinct from new.grantee and agent <> new.agent
        order by bound_at desc, agent offset ${Quotas.maxAgentsPerTunnel - 1}));`
  ),

  `create index portal_sessions_of_account on portal_sessions (subject, seen_at)`,
  ...capped(
    "portal_sessions",
    "true",
    `delete from portal_sessions where ctid = any(array(
        select ctid from portal_sessions where subject = new.subject and token_hash <> new.token_hash
        order by seen_at desc, token_hash offset ${Quotas.maxSessionsPerAccount - 1}));`
  ),

  `create index gate_sessions_of_visitor on gate_sessions (subject, share_link_id, expires_at)`,
  ...capped(
    "gate_sessions",
    "true",
    `delete from gate_sessions where ctid = any(array(
        select ctid from gate_sessions where subject is not distinct from new.subject
          and share_link_id is not distinct from new.share_link_id and token_hash <> new.token_hash
        order by expires_at desc, token_hash offset ${Quotas.maxGateSessionsPerVisitor - 1}));`
  ),

  `create index issuances_age on issuances (at)`
)
