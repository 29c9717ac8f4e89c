/**
 * Channels with everything that hangs on them, which goes when they go: members and their grants, who may claim and who
 * has claimed, claim invites, rooms. Beside them what makes an invitation across accounts good for one use.
 */
import * as Statements from "./Statements.ts"

const key = (name: string) => `${name} text not null check (${name} ~ '^[0-9a-f]{64}$')`

export const up = Statements.of(
  `create table channels (
    channel text primary key check (channel ~ '^[0-9a-f]{64}$'),
    owner text not null check (owner <> ''),
    ${key("operator_pubkey")},
    created_at bigint not null
  )`,
  `create index channels_owner on channels (owner, channel)`,
  `create table channel_members (
    channel text not null references channels (channel) on delete cascade,
    ${key("holder")},
    ${key("noise_pubkey")},
    noise_attestation text not null check (noise_attestation ~ '^[0-9a-f]{128}$'),
    primary key (channel, holder)
  )`,
  `create index channel_members_holder on channel_members (holder, channel)`,
  `create table channel_grants (
    channel text not null,
    holder text not null,
    grant_hex text not null check (length(grant_hex) = 278 and grant_hex ~ '^[0-9a-f]+$'),
    primary key (channel, holder),
    foreign key (channel, holder) references channel_members (channel, holder) on delete cascade
  )`,
  `create table channel_allowlist (
    channel text not null references channels (channel) on delete cascade,
    email text not null check (email = lower(email)),
    primary key (channel, email)
  )`,
  `create index channel_allowlist_email on channel_allowlist (email, channel)`,
  `create table channel_claims (
    channel text not null,
    holder text not null,
    subject text not null check (subject <> ''),
    primary key (channel, holder),
    foreign key (channel, holder) references channel_members (channel, holder) on delete cascade
  )`,
  `create index channel_claims_subject on channel_claims (subject, channel, holder)`,
  `create table claim_invites (
    token_hash text primary key check (token_hash ~ '^[0-9a-f]{64}$'),
    channel text not null references channels (channel) on delete cascade,
    ${key("holder")},
    ${key("noise_pubkey")},
    noise_attestation text not null check (noise_attestation ~ '^[0-9a-f]{128}$'),
    label text,
    expires_at bigint not null,
    used_at bigint
  )`,
  `create index claim_invites_channel on claim_invites (channel, expires_at, token_hash)`,
  `create index claim_invites_expiry on claim_invites (expires_at)`,
  `create table room_pairs (
    channel text primary key references channels (channel) on delete cascade,
    ${key("a")},
    ${key("b")}
  )`,
  `create table invitation_challenges (
    challenge text primary key check (challenge ~ '^[0-9a-f]{64}$'),
    issued_at bigint not null
  )`,
  `create index invitation_challenges_age on invitation_challenges (issued_at)`,
  `create table invitation_redemptions (
    signature text primary key check (signature ~ '^[0-9a-f]{128}$'),
    expires_at bigint not null
  )`,
  `create index invitation_redemptions_expiry on invitation_redemptions (expires_at)`
)
