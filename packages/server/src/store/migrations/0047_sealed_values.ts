/**
 * Alert secrets, grants and id tokens are sealed text (`s1.<key id>.<bytes>`); what was stored before stays until the
 * server seals it. The indexes find what another key than the current one has sealed.
 */
import * as Statements from "./Statements.ts"

const sealedOr = (plain: string, column: string) => `(${column} ~ '^s1\\.[0-9a-f]{8}\\.' or ${plain})`
const byKey = (table: string, column: string) =>
  `create index ${table}_sealed_by on ${table} (left(${column}, 12) collate "C") where ${column} is not null`
const grant = "length(grant_hex) = 278 and grant_hex ~ '^[0-9a-f]+$'"

export const up = Statements.of(
  `alter table alerts drop constraint alerts_secret_check`,
  `alter table alerts add constraint alerts_secret_check check (${sealedOr("length(secret) = 64 and secret ~ '^[0-9a-f]+$'", "secret")})`,
  `alter table channel_grants drop constraint channel_grants_grant_hex_check`,
  `alter table channel_grants add constraint channel_grants_grant_hex_check check (${sealedOr(grant, "grant_hex")})`,
  `alter table bridges drop constraint bridges_grant_hex_check`,
  `alter table bridges add constraint bridges_grant_hex_check check (${sealedOr(grant, "grant_hex")})`,
  byKey("alerts", "secret"),
  byKey("channel_grants", "grant_hex"),
  byKey("bridges", "grant_hex"),
  byKey("portal_sessions", "id_token")
)
