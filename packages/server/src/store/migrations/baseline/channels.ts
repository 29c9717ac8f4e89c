/** Channels with their members, grants, allow-lists, claims, invitations and rooms. */
export const statements = [
  `create table channels (
    channel text not null,
    owner text not null,
    operator_pubkey text not null,
    created_at bigint not null,
    proof text default 'none' not null,
    constraint channels_pkey primary key (channel),
    constraint channels_channel_check check ((length(channel) = 64) and (channel !~ '[^0-9a-f]')),
    constraint channels_operator_pubkey_check check ((length(operator_pubkey) = 64) and (operator_pubkey !~ '[^0-9a-f]')),
    constraint channels_owner_check check (owner <> ''),
    constraint channels_proof_check check (proof in ('none', 'key', 'derived'))
  )`,
  `create index channels_owner on channels (owner, channel)`,
  `create table channel_members (
    channel text not null,
    holder text not null,
    noise_pubkey text not null,
    noise_attestation text not null,
    constraint channel_members_pkey primary key (channel, holder),
    constraint channel_members_holder_check check ((length(holder) = 64) and (holder !~ '[^0-9a-f]')),
    constraint channel_members_noise_attestation_check check ((length(noise_attestation) = 128) and (noise_attestation !~ '[^0-9a-f]')),
    constraint channel_members_noise_pubkey_check check ((length(noise_pubkey) = 64) and (noise_pubkey !~ '[^0-9a-f]')),
    constraint channel_members_channel_fkey foreign key (channel) references channels(channel) on delete cascade
  )`,
  `create index channel_members_holder on channel_members (holder, channel)`,
  `create table channel_grants (
    channel text not null,
    holder text not null,
    grant_hex text not null,
    expires_at bigint,
    constraint channel_grants_pkey primary key (channel, holder),
    constraint channel_grants_grant_hex_check check ((grant_hex ~ '^s1\\.[0-9a-f]{8}\\.') or ((length(grant_hex) = 278) and (grant_hex ~ '^[0-9a-f]+$'))),
    constraint channel_grants_channel_holder_fkey foreign key (channel, holder) references channel_members(channel, holder) on delete cascade
  )`,
  `create index channel_grants_expiry on channel_grants (expires_at)`,
  `create index channel_grants_sealed_by on channel_grants ("left"(grant_hex, 12) collate "C") where (grant_hex is not null)`,
  `create table channel_allowlist (
    channel text not null,
    email text not null,
    constraint channel_allowlist_pkey primary key (channel, email),
    constraint channel_allowlist_email_check check (email = lower((email collate "C"))),
    constraint channel_allowlist_channel_fkey foreign key (channel) references channels(channel) on delete cascade
  )`,
  `create index channel_allowlist_email on channel_allowlist (email, channel)`,
  `create table channel_claims (
    channel text not null,
    holder text not null,
    subject text not null,
    constraint channel_claims_pkey primary key (channel, holder),
    constraint channel_claims_subject_check check (subject <> ''),
    constraint channel_claims_channel_holder_fkey foreign key (channel, holder) references channel_members(channel, holder) on delete cascade
  )`,
  `create index channel_claims_subject on channel_claims (subject, channel, holder)`,
  `create table claim_invites (
    token_hash text not null,
    channel text not null,
    holder text not null,
    noise_pubkey text not null,
    noise_attestation text not null,
    label text,
    expires_at bigint not null,
    used_at bigint,
    constraint claim_invites_pkey primary key (token_hash),
    constraint claim_invites_holder_check check ((length(holder) = 64) and (holder !~ '[^0-9a-f]')),
    constraint claim_invites_noise_attestation_check check ((length(noise_attestation) = 128) and (noise_attestation !~ '[^0-9a-f]')),
    constraint claim_invites_noise_pubkey_check check ((length(noise_pubkey) = 64) and (noise_pubkey !~ '[^0-9a-f]')),
    constraint claim_invites_token_hash_check check ((length(token_hash) = 64) and (token_hash !~ '[^0-9a-f]')),
    constraint claim_invites_channel_fkey foreign key (channel) references channels(channel) on delete cascade
  )`,
  `create index claim_invites_channel on claim_invites (channel, expires_at, token_hash)`,
  `create index claim_invites_expiry on claim_invites (expires_at)`,
  `create table invitation_challenges (
    challenge text not null,
    issued_at bigint not null,
    constraint invitation_challenges_pkey primary key (challenge),
    constraint invitation_challenges_challenge_check check ((length(challenge) = 64) and (challenge !~ '[^0-9a-f]'))
  )`,
  `create index invitation_challenges_age on invitation_challenges (issued_at)`,
  `create table invitation_redemptions (
    signature text not null,
    expires_at bigint not null,
    constraint invitation_redemptions_pkey primary key (signature),
    constraint invitation_redemptions_signature_check check ((length(signature) = 128) and (signature !~ '[^0-9a-f]'))
  )`,
  `create index invitation_redemptions_expiry on invitation_redemptions (expires_at)`,
  `create table room_pairs (
    channel text not null,
    a text not null,
    b text not null,
    constraint room_pairs_pkey primary key (channel),
    constraint room_pairs_a_check check ((length(a) = 64) and (a !~ '[^0-9a-f]')),
    constraint room_pairs_b_check check ((length(b) = 64) and (b !~ '[^0-9a-f]')),
    constraint room_pairs_channel_fkey foreign key (channel) references channels(channel) on delete cascade
  )`,
  `create function channel_register(of_channel text, by_owner text, key text, usual_most integer, actor text, action text, moment bigint, out is_new boolean, out refusal text) returns record language plpgsql as $$
    declare found record;
    begin
      select * into found from channel_to_register(of_channel, by_owner);
      is_new := found.owner is null and found.held < coalesce(found.most, usual_most) and not exists (
        select from topology_edges e join topologies t on t.id = e.topology_id
        where e.link = of_channel and t.operator_pubkey <> key);
      if is_new then
        insert into channels (channel, owner, operator_pubkey, created_at) values (of_channel, by_owner, key, moment);
        refusal := audit_append(actor, action, of_channel, key, moment);
      end if;
    end $$`,
  `create function channel_to_register(of_channel text, by_owner text, out owner text, out operator_pubkey text, out held bigint, out most integer) returns record language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(of_channel, 3));
      select c.owner, c.operator_pubkey into owner, operator_pubkey from channels c where c.channel = of_channel;
      select n.held, n.most into held, most from channels_counted(by_owner) n;
    end $$`,
  `create function channels_counted(of_owner text, out held bigint, out most integer) returns record language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended(of_owner, 4));
      held := (select count(*) from channels c where c.owner = of_owner);
      most := (select l.max_channels from account_limits l where l.subject = of_owner);
    end $$`
]
