/** The caps of the control plane. */
import { holds } from "@catenet/testing/FairShares"

holds({
  of: "server",
  sources: ["server/src/**/*.ts", "domain/src/**/*.ts"],
  variables: { in: "server/src/settings/*.ts", named: /\bCT_CP_\w+_PER_(?:MIN|ACCOUNT)\b/gu },
  shared: {
    CT_CP_REQUESTS_PER_MIN: ["http/RateLimit", "is separate for each account, even if all come from one address"],
    CT_CP_UNAUTH_WRITE_PER_MIN: ["../stack/fairness/FairFloods", "sign-in pages from one address"],
    CT_CP_TUNNELS_PER_ACCOUNT: ["../stack/fairness/FairFloods", "tunnels of one account"],
    CT_CP_PORTS_PER_ACCOUNT: ["tunnels/PublicPorts", "leaves ports to accounts that have fewer"],
    CT_CP_HOSTS_PER_ACCOUNT: ["tunnels/hostnames/Claims", "are as many as its operator allows the account"],
    CT_CP_RULES_PER_ACCOUNT: ["tunnels/TunnelRules", "and another account has its own"],
    CT_CP_CHANNELS_PER_ACCOUNT: ["../stack/fairness/FairFloods", "channels of one account"],
    "certificates/PlatformCertificates atOnce": [
      "certificates/PlatformCertificates",
      "that are slow leave places to those of others"
    ],
    "certificates/DnsChallenges maxAtOnce": [
      "certificates/DnsChallenges",
      "has the tunnel that waits for most of them"
    ],
    "tunnels/hostnames/Resolver maxAtOnce": ["tunnels/hostnames/Resolver", "one of another account is answered beside"],
    "tunnels/hostnames/Resolver maxPerAccount": ["tunnels/hostnames/Resolver", "of one account are two at a time"],
    maxBootstrapTokens: ["values/Caps", "bootstrap tokens of the operator and of accounts"],
    maxBootstrapTokensPerAccount: ["values/Caps", "bootstrap tokens of the operator and of accounts"],
    maxChallenges: ["store/RowCaps", "and the blocks that have the most give way"],
    maxChallengesPerBlock: ["store/RowCaps", "and the blocks that have the most give way"],
    "http/OneAtATime maxWaiting": [
      "http/RateLimit",
      "come one after the other, nine at most, and those of another account go on"
    ],
    maxAccessRequestsPerTunnel: ["gate/AccessRequests", "fill no more than their owner can read"],
    maxAccessRequestsPerBlock: ["gate/AccessRequests", "however many are made at once"],
    maxPerNetworks: ["portal/TopologyEvents", "reach a public page at another address"],
    maxPerAddress: ["../stack/fairness/FairFloods", "streams of a public page from one address"]
  },
  own: {
    "of one account, tunnel, channel, topology or tenant, or of what an account owns": [
      "issuesPerMinute",
      "bootstrapsPerMinute",
      "maxNotices",
      "maxServiceAccounts",
      "maxShareLinks",
      "domain/values/Quotas maxPerAccount",
      "maxGrantsPerTunnel",
      "maxVisitorsPerTunnel",
      "maxMembersPerChannel",
      "maxAllowedPerChannel",
      "maxOpenInvitesPerChannel",
      "maxEndedInvitesPerChannel",
      "maxEndedLinksPerTunnel",
      "maxUnconfirmedPerAccount",
      "maxRules",
      "maxOrigins",
      "maxAgentsPerTopology",
      "maxEdgesPerTopology",
      "maxSharesPerTopology",
      "maxPipelinesPerAccount",
      "maxPasskeysPerAccount",
      "maxListedAgentsPerAccount",
      "maxTopologiesPerAccount",
      "maxJoinTokensPerTenant",
      "maxAnswersPerCaller",
      "maxRevokedPerAccount",
      "maxAgentsPerTunnel",
      "maxSessionsPerAccount",
      "maxGateSessionsPerVisitor"
    ],
    "of one session": ["maxTunnels", "maxStreams", "maxPerSession"],
    "one question for each token that the provider has issued; whose it is, is what is asked, and the next waits its turn":
      ["identity/AccessTokens maxAtOnce"],
    "nobody is known before a token verifies, and those refused succeed with the keys that are fetched within a second":
      ["identity/KeySet maxWaiting"],
    "the server's own work": [
      "certificates/AdmissionSweep atOnce",
      "notices/mail/NoticeMails atOnce",
      "signin/SignInMails atOnce",
      "tunnels/alerts/Outages atOnce",
      "tunnels/hostnames/AddressRecords atOnce",
      "maxPerAnswer",
      "certificates/CertificateLooks atOnce",
      "maxNames",
      "maxAge"
    ],
    "what is forgotten is verified again": ["identity/AccessTokens remembered", "identity/EmailDomains remembered"],
    "of one request, page or answer": [
      "maxSeconds",
      "maxFields",
      "maxCertificates",
      "maxLines",
      "maxOnCircle",
      "maxLinks",
      "maxSessions",
      "maxQuestioned",
      "maxPage",
      "maxBodyBytes",
      "maxListBytes",
      "maxSuggestBytes",
      "maxRoomHolders",
      "maxSuggestBudget",
      "maxSuggestAgents",
      "maxSuggestLinks",
      "maxVersions",
      "maxTokensPerBatch",
      "maxHeaderBytes"
    ],
    "of one sign-in": ["maxTries"],
    "of one value": [
      "maxPortRanges",
      "maxServices",
      "maxPerMinute",
      "maxCardUrl",
      "maxBalance",
      "maxChainLength",
      "maxInviteLabel",
      "maxChannelLabel",
      "maxTopologyName",
      "maxOffsetMinutes",
      "maxExpiryHours",
      "maxServiceAccountName",
      "maxThresholdMinutes",
      "maxReceiverLength",
      "maxTokenLength",
      "maxShareLabel",
      "maxTunnelName",
      "maxUint64",
      "maxRepetitions",
      "maxManifestLocation",
      "maxProjectName"
    ]
  }
})
