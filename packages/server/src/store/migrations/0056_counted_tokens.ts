/**
 * Join and bootstrap tokens that are over are pruned. `pruned_redemptions` counts the redeemed ones of them, because
 * `/status` counts every redemption. Tokens of a batch follow from its key and its salt: a batch that is made again with
 * the same key gives other tokens, and none of those that were pruned. A batch without salt is of an earlier release.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `alter table join_batches add column salt text not null default '', add column created_at bigint not null default 0`,
  `create table pruned_redemptions (one boolean primary key default true check (one), count bigint not null)`,
  `insert into pruned_redemptions (count) values (0)`,
  `create index join_tokens_unused on join_tokens (tenant, coalesce(grantee, '')) where redeemed_at is null`,
  `create index join_tokens_unused_age on join_tokens (created_at) where redeemed_at is null`,
  `create index join_tokens_redeemed on join_tokens (redeemed_at) where redeemed_at is not null`,
  `create index join_batches_age on join_batches (created_at) where salt <> ''`,
  `create index bootstrap_tokens_unused on bootstrap_tokens (expires_at) where redeemed_at is null`,
  `create index bootstrap_tokens_redeemed on bootstrap_tokens (redeemed_at) where redeemed_at is not null`
)
