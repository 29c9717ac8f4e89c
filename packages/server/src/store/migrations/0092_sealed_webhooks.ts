/**
 * The address of a webhook may carry a secret, so it is sealed text. An address from before stays readable as it stands,
 * and the server seals it at its start. The index finds what another key than the current one has sealed.
 */
import * as Statements from "./Statements.ts"

export const up = Statements.of(
  `create index alerts_webhook_url_sealed_by on alerts (left(webhook_url, 12) collate "C")`
)
