/**
 * Indexes for what is forgotten by its age or by an e-mail address, which would otherwise be looked for in the whole
 * table; and an end to indexes that no statement uses.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create index portal_sessions_idle on portal_sessions (seen_at)`,
  `create index tunnel_visitors_email on tunnel_visitors (email)`,
  `create index tunnel_access_requests_email on tunnel_access_requests (email)`,
  `drop index join_tokens_tenant`,
  `drop index bootstrap_tokens_expiry`
)
