/**
 * All migrations in their order. The first is the schema of the first release; what changes it later is appended with the
 * next number. A name is never reused and a released entry never edited.
 */
import * as baseline from "./0123_baseline.ts"
import * as tunnelOptions from "./0124_tunnel_options.ts"
import * as seenIssuances from "./0125_seen_issuances.ts"
import * as rowCaps from "./0126_row_caps.ts"
import * as provedClaims from "./0127_proved_claims.ts"
import * as agentVersions from "./0128_agent_versions.ts"
import * as capIndexes from "./0129_cap_indexes.ts"
import * as answersInTurns from "./0130_answers_in_turns.ts"
import * as tunnelLimit from "./0131_tunnel_limit.ts"
import * as serviceAccountMakers from "./0132_service_account_makers.ts"
import * as tunnelPolicies from "./0133_tunnel_policies.ts"
import * as tunnelEnrol from "./0134_tunnel_enrol.ts"
import * as publicPorts from "./0141_public_ports.ts"
import * as alertFormats from "./0159_alert_formats.ts"
import * as platformCertificates from "./0160_platform_certificates.ts"
import * as accountLimits from "./0170_account_limits.ts"
import * as tunnelRules from "./0171_tunnel_rules.ts"
import * as ruleLimits from "./0172_rule_limits.ts"
import * as signIn from "./0173_sign_in.ts"
import * as passkeys from "./0174_passkeys.ts"
import * as upstreamLinks from "./0175_upstream_links.ts"
import * as channelLabels from "./0180_channel_labels.ts"
import * as topologyNames from "./0181_topology_names.ts"
import * as hostDomains from "./0186_host_domains.ts"
import * as accountEvents from "./0189_account_events.ts"
import * as agentPresence from "./0190_agent_presence.ts"

export const migrations = {
  "0123_baseline": baseline.up,
  "0124_tunnel_options": tunnelOptions.up,
  "0125_seen_issuances": seenIssuances.up,
  "0126_row_caps": rowCaps.up,
  "0127_proved_claims": provedClaims.up,
  "0128_agent_versions": agentVersions.up,
  "0129_cap_indexes": capIndexes.up,
  "0130_answers_in_turns": answersInTurns.up,
  "0131_tunnel_limit": tunnelLimit.up,
  "0132_service_account_makers": serviceAccountMakers.up,
  "0133_tunnel_policies": tunnelPolicies.up,
  "0134_tunnel_enrol": tunnelEnrol.up,
  "0141_public_ports": publicPorts.up,
  "0159_alert_formats": alertFormats.up,
  "0160_platform_certificates": platformCertificates.up,
  "0170_account_limits": accountLimits.up,
  "0171_tunnel_rules": tunnelRules.up,
  "0172_rule_limits": ruleLimits.up,
  "0173_sign_in": signIn.up,
  "0174_passkeys": passkeys.up,
  "0175_upstream_links": upstreamLinks.up,
  "0180_channel_labels": channelLabels.up,
  "0181_topology_names": topologyNames.up,
  "0186_host_domains": hostDomains.up,
  "0189_account_events": accountEvents.up,
  "0190_agent_presence": agentPresence.up
} as const
