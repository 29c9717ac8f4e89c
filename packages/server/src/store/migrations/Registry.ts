/**
 * All migrations in their order. The number is the order; a name is never reused and a released entry never edited. 0011
 * was given up before it was released: no database has it, and the number stays unused.
 */
import * as outbox from "./0001_outbox.ts"
import * as enrollment from "./0002_enrolment.ts"
import * as tunnels from "./0003_tunnels.ts"
import * as edges from "./0004_edges.ts"
import * as sessions from "./0005_sessions.ts"
import * as records from "./0006_records.ts"
import * as tunnelSharing from "./0007_tunnel_sharing.ts"
import * as channels from "./0008_channels.ts"
import * as registries from "./0009_registries.ts"
import * as topologies from "./0010_topologies.ts"
import * as credits from "./0012_credits.ts"
import * as serviceAccounts from "./0013_service_accounts.ts"
import * as admissionQueue from "./0014_admission_queue.ts"
import * as tunnelControls from "./0015_tunnel_controls.ts"
import * as ledger from "./0016_ledger.ts"
import * as gateSignIns from "./0018_gate_sign_ins.ts"
import * as shortCommands from "./0019_short_commands.ts"
import * as addressRecords from "./0021_address_records.ts"
import * as paymentExpiry from "./0022_payment_expiry.ts"
import * as portalSignIns from "./0023_portal_sign_ins.ts"
import * as cheapChecks from "./0024_cheap_checks.ts"
import * as agentKeys from "./0025_agent_keys.ts"
import * as sweepsByIndex from "./0026_sweeps_by_index.ts"
import * as channelRegister from "./0027_channel_register.ts"
import * as tunnelsWithoutHostname from "./0028_tunnels_without_hostname.ts"
import * as tunnelEnrol from "./0029_tunnel_enrol.ts"
import * as joinTokensOfGrantees from "./0030_join_tokens_of_grantees.ts"
import * as tunnelsWithoutHostnameById from "./0031_tunnels_without_hostname_by_id.ts"
import * as gateCookiesOfOneHost from "./0032_gate_cookies_of_one_host.ts"
import * as gateSessionsOfAccounts from "./0033_gate_sessions_of_accounts.ts"
import * as agentProofs from "./0035_agent_proofs.ts"
import * as tokenRotations from "./0036_token_rotations.ts"
import * as hostnameClaims from "./0039_hostname_claims.ts"
import * as hostsOfRevokedTokens from "./0040_hosts_of_revoked_tokens.ts"
import * as deliveryOutcomes from "./0042_delivery_outcomes.ts"
import * as accountEmails from "./0043_account_emails.ts"
import * as ordersOfEachEdge from "./0044_orders_of_each_edge.ts"
import * as revokedTokensInPages from "./0045_revoked_tokens_in_pages.ts"
import * as blocksOfAccessRequests from "./0046_blocks_of_access_requests.ts"
import * as sealedValues from "./0047_sealed_values.ts"
import * as serverRole from "./0048_server_role.ts"
import * as httpOnly from "./0050_http_only.ts"
import * as asciiCase from "./0053_ascii_case.ts"
import * as hostsOfNoEdge from "./0054_hosts_of_no_edge.ts"
import * as provedPlacements from "./0055_proved_placements.ts"
import * as countedTokens from "./0056_counted_tokens.ts"
import * as bootstrapSecretsKeptForAKey from "./0057_bootstrap_secrets_kept_for_a_key.ts"
import * as sealedSignIns from "./0058_sealed_sign_ins.ts"
import * as expiryOfGrants from "./0064_expiry_of_grants.ts"
import * as certificateOptOut from "./0066_certificate_opt_out.ts"
import * as issuanceFailures from "./0068_issuance_failures.ts"
import * as tunnelWatches from "./0070_tunnel_watches.ts"
import * as noticeMails from "./0071_notice_mails.ts"
import * as noiseKeysOfAgents from "./0077_noise_keys_of_agents.ts"
import * as certificateProgress from "./0082_certificate_progress.ts"
import * as bootstrapTokensOfAccounts from "./0087_bootstrap_tokens_of_accounts.ts"
import * as sealedWebhooks from "./0092_sealed_webhooks.ts"
import * as mailsInHand from "./0096_mails_in_hand.ts"
import * as registrationOfLinks from "./0098_registration_of_links.ts"
import * as edgeComparisons from "./0110_edge_comparisons.ts"
import * as directoryOfAccounts from "./0111_directory_of_accounts.ts"
import * as ticketKeys from "./0114_ticket_keys.ts"
import * as operatorProofs from "./0118_operator_proofs.ts"
import * as accountsOfIssuances from "./0122_accounts_of_issuances.ts"
import * as successorsOfTokens from "./0123_successors_of_tokens.ts"

export const migrations = {
  "0001_outbox": outbox.up,
  "0002_enrolment": enrollment.up,
  "0003_tunnels": tunnels.up,
  "0004_edges": edges.up,
  "0005_sessions": sessions.up,
  "0006_records": records.up,
  "0007_tunnel_sharing": tunnelSharing.up,
  "0008_channels": channels.up,
  "0009_registries": registries.up,
  "0010_topologies": topologies.up,
  "0012_credits": credits.up,
  "0013_service_accounts": serviceAccounts.up,
  "0014_admission_queue": admissionQueue.up,
  "0015_tunnel_controls": tunnelControls.up,
  "0016_ledger": ledger.up,
  "0018_gate_sign_ins": gateSignIns.up,
  "0019_short_commands": shortCommands.up,
  "0021_address_records": addressRecords.up,
  "0022_payment_expiry": paymentExpiry.up,
  "0023_portal_sign_ins": portalSignIns.up,
  "0024_cheap_checks": cheapChecks.up,
  "0025_agent_keys": agentKeys.up,
  "0026_sweeps_by_index": sweepsByIndex.up,
  "0027_channel_register": channelRegister.up,
  "0028_tunnels_without_hostname": tunnelsWithoutHostname.up,
  "0029_tunnel_enrol": tunnelEnrol.up,
  "0030_join_tokens_of_grantees": joinTokensOfGrantees.up,
  "0031_tunnels_without_hostname_by_id": tunnelsWithoutHostnameById.up,
  "0032_gate_cookies_of_one_host": gateCookiesOfOneHost.up,
  "0033_gate_sessions_of_accounts": gateSessionsOfAccounts.up,
  "0035_agent_proofs": agentProofs.up,
  "0036_token_rotations": tokenRotations.up,
  "0039_hostname_claims": hostnameClaims.up,
  "0040_hosts_of_revoked_tokens": hostsOfRevokedTokens.up,
  "0042_delivery_outcomes": deliveryOutcomes.up,
  "0043_account_emails": accountEmails.up,
  "0044_orders_of_each_edge": ordersOfEachEdge.up,
  "0045_revoked_tokens_in_pages": revokedTokensInPages.up,
  "0046_blocks_of_access_requests": blocksOfAccessRequests.up,
  "0047_sealed_values": sealedValues.up,
  "0048_server_role": serverRole.up,
  "0050_http_only": httpOnly.up,
  "0053_ascii_case": asciiCase.up,
  "0054_hosts_of_no_edge": hostsOfNoEdge.up,
  "0055_proved_placements": provedPlacements.up,
  "0056_counted_tokens": countedTokens.up,
  "0057_bootstrap_secrets_kept_for_a_key": bootstrapSecretsKeptForAKey.up,
  "0058_sealed_sign_ins": sealedSignIns.up,
  "0064_expiry_of_grants": expiryOfGrants.up,
  "0066_certificate_opt_out": certificateOptOut.up,
  "0068_issuance_failures": issuanceFailures.up,
  "0070_tunnel_watches": tunnelWatches.up,
  "0071_notice_mails": noticeMails.up,
  "0077_noise_keys_of_agents": noiseKeysOfAgents.up,
  "0082_certificate_progress": certificateProgress.up,
  "0087_bootstrap_tokens_of_accounts": bootstrapTokensOfAccounts.up,
  "0092_sealed_webhooks": sealedWebhooks.up,
  "0096_mails_in_hand": mailsInHand.up,
  "0098_registration_of_links": registrationOfLinks.up,
  "0110_edge_comparisons": edgeComparisons.up,
  "0111_directory_of_accounts": directoryOfAccounts.up,
  "0114_ticket_keys": ticketKeys.up,
  "0118_operator_proofs": operatorProofs.up,
  "0122_accounts_of_issuances": accountsOfIssuances.up,
  "0123_successors_of_tokens": successorsOfTokens.up
} as const
