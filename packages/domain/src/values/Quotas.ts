/** How much of each kind may be kept: one constant for each, which the server counts by before it inserts. */

/** As high as a limit of an account can be set. */
export const maxPerAccount = 1_000_000

/** Seconds for which an account finds what happened to its tunnels, and of how many events; the oldest give way. */
export const accountEventSeconds = 30 * 86_400
export const maxEventsPerAccount = 1_000

/** Requests to be let in that wait at one tunnel. */
export const maxAccessRequestsPerTunnel = 200
/** Those of them that came from one block of addresses: an IPv4 address, or a /64 of IPv6. */
export const maxAccessRequestsPerBlock = 5
/** Seconds for which a request to be let in waits. */
export const accessRequestSeconds = 30 * 86_400

/** Characters of what a visitor says who asks to be let in; more are cut off. */
export const longestAccessNote = 500

/** Accounts that see one tunnel of another's. */
export const maxGrantsPerTunnel = 100
/** Visitors that pass the login gate of one tunnel. */
export const maxVisitorsPerTunnel = 1_000

/** Characters of the address of a manifest, and of the name under which an agent is to install it. */
export const maxManifestLocation = 2048
export const maxProjectName = 64

export const maxMembersPerChannel = 1_000
/** E-mail addresses that may claim a membership of one channel. */
export const maxAllowedPerChannel = 1_000

/** Claim invites of one channel that can still be used. */
export const maxOpenInvitesPerChannel = 100
/** Claim invites of one channel that were used or have expired and are still known as such; the oldest give way. */
export const maxEndedInvitesPerChannel = 100
/** Share links of one tunnel that were revoked or have expired and are still listed; the oldest give way. */
export const maxEndedLinksPerTunnel = 100

/** Payments that one account has asked for and that are not confirmed. */
export const maxUnconfirmedPerAccount = 100

export const maxAgentsPerTopology = 1_000
export const maxEdgesPerTopology = 4_000
/** E-mail addresses that one topology is shared with. */
export const maxSharesPerTopology = 100

export const maxPipelinesPerAccount = 100
export const maxListedAgentsPerAccount = 100
export const maxTopologiesPerAccount = 100

/** Join tokens of a tenant that no agent has redeemed. Those that were given to a grantee count for that grantee alone. */
export const maxJoinTokensPerTenant = 1_000
/** Join tokens of one batch. */
export const maxTokensPerBatch = 100
/** Seconds for which a join token that no agent redeems is good. */
export const unusedJoinTokenSeconds = 90 * 86_400
/** Seconds for which a redeemed join token is remembered, for an agent that did not get the answer. */
export const redeemedJoinTokenSeconds = 30 * 86_400
/** Seconds for which the key of a batch of join tokens gives the same tokens again. */
export const joinBatchSeconds = 90 * 86_400

/** Bootstrap tokens that the operator has minted and that still give out a secret. */
export const maxBootstrapTokens = 10_000
/** The same for one account. */
export const maxBootstrapTokensPerAccount = 100
/** Seconds for which a bootstrap token is remembered after it was redeemed or has expired. */
export const endedBootstrapSeconds = 30 * 86_400

/** Answers that are kept for repeated requests of one caller, counted at about one write in 32; the oldest give way. */
export const maxAnswersPerCaller = 2_000
/** Routing tokens of one account that are remembered as revoked; the oldest that no edge still has to hear of give way. */
export const maxRevokedPerAccount = 1_000
/** Challenges for invitations that one block of addresses has open; the oldest give way. */
export const maxChallengesPerBlock = 100
/** All of them, looked at once a minute; the oldest of the blocks that have the most give way. */
export const maxChallenges = 10_000
/** Agents of one tunnel that are enrolled by its account, or by one grantee; the key that was bound first gives way. */
export const maxAgentsPerTunnel = 1_000
/** Sessions of one account at the portal; the one that was used longest ago gives way. */
export const maxSessionsPerAccount = 200
/** Sessions of one account, or by one share link, at the login gates of tunnels; the first to end gives way. */
export const maxGateSessionsPerVisitor = 1_000
