/** Variables of other agents that have no effect here, with the reason. */
const published = "the control plane publishes the proof and waits until every name server of the zone shows it"

export const unused = {
  CT_GRANT_EXPIRES_AT: "the end of a grant is CT_GRANT_EXPIRES",
  CT_ACME_DNS01_RESOLVER_URLS: published,
  CT_ACME_DNS01_PROPAGATION_TIMEOUT_SECS: `${published}, for 180 seconds at most`,
  CT_ACME_DNS01_INITIAL_DELAY_SECS: published,
  CT_ACME_DNS01_AUTHORITATIVE: published,
  CT_ACME_DNS01_ATTEMPTS:
    "an order that DNS does not show yet is continued, and one that failed is placed again by itself"
} as const
