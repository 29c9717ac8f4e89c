/** What the comments over the errors say; `ErrorSentences.test.ts` writes it. */
export const errorSentences: Readonly<Record<string, string>> = {
  PipelineNotFound:
    "No pipeline has this id.",
  NotPipelineOwner:
    "The id belongs to another account; answered to account holders.",
  PipelineIdTaken:
    "The id belongs to another owner; answered to operators.",
  RoleTagRepeated:
    "Every role of a pipeline has a tag of its own.",
  RoleWithoutUnits:
    "A role asks for at least one unit.",
  DirectoryProofRefused:
    "The proof of the holder key does not hold for this registration.",
  AgentNotListed:
    "The directory has no entry for this holder.",
  PriceBelowOne:
    "A price below that of a token.",
  InsufficientCredits:
    "The balance does not cover the price; nothing was debited.",
  CreditsOutOfRange:
    "Credits are bought in whole numbers from 1.",
  AccountUnknown:
    "No account has this id.",
  PaymentUnknown:
    "No payment intent has this id.",
  WebhookSignatureRefused:
    "The event is not signed with the shared secret, or is too old or too new.",
  NotHostnameOwner:
    "The routing token is wrong, or is not recorded as owner of the host name; one answer for both.",
  AgentProofRequired:
    "The agents of the tunnel have to prove an enrolled key, and the call proves none that is.",
  HostnameGuarded:
    "The edge holds visitors of the name back, which it cannot do for a name whose TLS it does not end.",
  HostnameUnknown:
    "No tunnel has this host name.",
  NotAdmitted:
    "The host name may not order a certificate at present.",
  DnsProviderFailed:
    "The DNS provider refused or cannot be reached.",
  DnsBusy:
    "Too many challenges are waiting for their name servers.",
  DnsNotConverged:
    "The challenge is published, but not every name server answers it yet.",
  ClaimNotLapsed:
    "The certificate slot of the tunnel's host name has not lapsed, so there is nothing to queue again.",
  ChallengeNotBrokered:
    "A DNS-01 challenge is published only for names that the platform gave or an operator provisioned.",
  BridgeNotConfigured:
    "The deployment has no identity of its own on channels.",
  BridgeGrantMissing:
    "The bridge on this tunnel has no grant.",
  BridgeCallFailed:
    "The bridge could not reach the agent, or the agent refused the call.",
  NotChannelOwner:
    "The channel belongs to another account or does not exist; one answer for both.",
  ChannelNotFound:
    "The channel belongs to another account or does not exist; one answer for both.",
  ChannelLimitReached:
    "The account has as many channels as it may have.",
  OperatorMismatch:
    "The channel is registered with another operator key, and the request does not confirm the change.",
  OperatorProofRefused:
    "The proof of an operator key does not hold, or the channel id is not derived as the request says.",
  LinkOperatorDiffers:
    "The channel is that of a link of a topology, whose bound operator has another key.",
  AttestationRefused:
    "The signature over (channel, holder, Noise key) does not verify under the holder's key.",
  GrantUndecodable:
    "The grant's bytes do not form a grant.",
  GrantMismatch:
    "The grant was signed for another channel or another holder.",
  MemberNotFound:
    "A grant is deposited for a holder that is not a member.",
  RoomSizeOutOfRange:
    "A room has at least two holders, and not too many; the answer says how many.",
  HolderRepeated:
    "A room names every holder once.",
  RoomPairTaken:
    "A channel of the room belongs to another account, or has another operator; nothing was registered.",
  NotAllowListed:
    "The session's e-mail may not claim on this channel.",
  HolderClaimedElsewhere:
    "Another account has claimed this holder.",
  NothingClaimed:
    "The caller has claimed nothing on this channel.",
  ClaimInviteUnknown:
    "No claim invite has this token.",
  ClaimInviteGone:
    "The claim invite was used, or has expired.",
  ChannelUnknown:
    "No account has registered a channel with this id.",
  InvitationRefused:
    "The invitation, the challenge, the redemption signature or the attestation does not verify; the answer does not say which.",
  InvitationExpired:
    "The operator's invitation has run out.",
  InvitationSpent:
    "The invitation was redeemed before.",
  MemberNotAdmitted:
    "The holder is neither a keyed member of the channel nor authorized by a bound topology with a Noise key on record.",
  HistoryDisabled:
    "The edge was configured without the store that this route reads.",
  ReceiptsDisabled:
    "The edge was configured without receipts.",
  EdgeUnhealthy:
    "A loop of the edge stopped ticking, or never started.",
  HeartbeatRefused:
    "The edge has a pinned key, and the heartbeat does not prove it.",
  HeartbeatProofIncomplete:
    "A heartbeat carries key and signature together or neither.",
  TicketKeysRefused:
    "The key that the edge is pinned to did not sign the request; an edge that is pinned to none gets no keys.",
  LookupAmbiguous:
    "A look-up names a token or a host, one of the two.",
  NoLiveEdge:
    "No live edge serves this token or host name.",
  RefusedOrderUnknown:
    "No order with this id waits for an operator.",
  EdgeUnknown:
    "No edge has this id.",
  EdgeUnavailable:
    "The edge did not take the order: it cannot be reached or answered with an error.",
  EdgeCaNotPublished:
    "The edge has not published its certificate authority yet.",
  EdgeCaNotConfigured:
    "The control plane does not get the edge's certificate authority by itself: an operator has to mend its settings.",
  JoinProofRefused:
    "The signature over the join token does not verify under the key in the request.",
  JoinTokenUnknown:
    "No operator or account issued this join token, or it is deleted.",
  JoinTokenSpent:
    "The join token has been redeemed before.",
  AgentAlreadyEnrolled:
    "This very agent has redeemed the join token before: same key, valid proof. The answer to that may have been lost, so the facts of its enrollment come again.",
  BatchCountOutOfRange:
    "A batch holds at least one token, and not too many; the answer says how many.",
  BootstrapTokenUnknown:
    "No operator or account minted this bootstrap token, or it is deleted.",
  BootstrapTokenSpent:
    "The bootstrap token has been redeemed before.",
  BootstrapProofRefused:
    "The signature over the bootstrap token does not verify under the key in the request.",
  BootstrapAlreadyRedeemed:
    "This very agent has redeemed the bootstrap token before: same key, valid proof. The answer to that may have been lost, so the secret comes again, until the token's own end.",
  BootstrapTokenExpired:
    "The bootstrap token outlived its time; this attempt has spent it.",
  Unauthenticated:
    "No bearer token or session, or one that does not verify.",
  AdminTokenRefused:
    "The admin header is missing, malformed or wrong.",
  MetricsTokenRefused:
    "The page of metrics is for those who hold its token, and it was not shown.",
  CrossSiteRequest:
    "A write that a browser sent with the session cookie from a page of another origin.",
  SessionNotFound:
    "The account has no session of this name.",
  SignInRefused:
    "The answer of the identity provider is not for a sign-in that this browser began, or it was used or is too late.",
  SignInCancelled:
    "The person, or the provider for them, said no to the sign-in.",
  EmailDomainRefused:
    "Only people with an address of some domains may call, and this is none of them, or belongs to none of them.",
  SignInFailed:
    "The identity provider did not say who it is that signed in.",
  SignInNotConfigured:
    "No client at an identity provider is configured.",
  VerifiedEmailRequired:
    "The route needs an e-mail address that the identity provider has verified, and the session has none.",
  ServiceAccountNotFound:
    "Foreign, unknown or not yet ready; one answer for all.",
  ServiceAccountLimitReached:
    "The account has as many service accounts as it may have.",
  IdentityProviderFailed:
    "The identity provider refused or cannot be reached; nothing was changed here.",
  IdentityProviderNotConfigured:
    "This deployment has no administrative access to an identity provider.",
  TopologyNotFound:
    "Foreign, unknown, not shared, or a proof that does not bind it: all of these have one answer.",
  TopologyLimitReached:
    "The account has as many topologies as it may have.",
  NetworkUnknown:
    "No topology has this public id.",
  PlacementProofInvalid:
    "The proof of a placement is not the agent's key's signature over this topology and this account.",
  NotAgentOwner:
    "Another account was the first to place this agent, or the agent's key has signed for another.",
  AgentAssigned:
    "An agent is in one topology at a time, this one included.",
  AgentNotAssigned:
    "The agent is not in this topology.",
  EdgeRefused:
    "The edge cannot be added.",
  EdgeNotFound:
    "There is no such edge, or the caller cannot edit the topology.",
  ChannelUnrelated:
    "The note names a channel that the caller neither owns nor is allow-listed on.",
  NothingToSuggest:
    "A baseline overlay is drawn by hand, so no links are suggested.",
  ShortcutBudgetTooLarge:
    "A suggestion adds a bounded number of shortcuts; the answer says how many.",
  TooManyAgents:
    "A suggestion is computed for a bounded number of agents; the answer says for how many.",
  ShareNotFound:
    "The topology is not the caller's, or was never shared with this address; one answer for both.",
  AlertRefused:
    "A field of an alert cannot be used.",
  AlertNotFound:
    "The tunnel has no alert.",
  DeliveryBudgetSpent:
    "The hour's deliveries are spent.",
  HostNotGated:
    "The host has no login gate, or no tunnel has the host.",
  VisitorNotAllowed:
    "The owner has not allowed this signed-in visitor.",
  GateCodeRefused:
    "The code is unknown, used, too old, for another host, or from a sign-in that another browser began.",
  GateNotConfigured:
    "The gate needs a cookie domain, and for signing in a client at the identity provider; one of them is not configured.",
  AccessWindowClosed:
    "The tunnel may not be visited now. `opens_at` is null when no opening is scheduled.",
  HostnameReserved:
    "No tunnel can have this host name.",
  HostnameNotProved:
    "DNS has no record that proves the host name.",
  NoHostnameToVerify:
    "The tunnel has no host name that is to be proved: it has none, or the platform or an operator gave it.",
  DnsUnanswered:
    "The resolver did not answer, so nothing is known.",
  RoutingTokenRevoked:
    "The routing token was revoked with its tunnel; no host name can lead to it.",
  HostnameTaken:
    "Another tunnel has this host name.",
  LoginNotRequired:
    "A share link lets visitors past a login gate, and the tunnel has none.",
  TunnelWithoutHostname:
    "A share link names a host, and the tunnel has none.",
  ShareLinkNeedsGelb:
    "A share link lets visitors past the gate of the edge, which sees requests of gelb hosts only.",
  ShareLinkLimitReached:
    "The tunnel has as many active share links as it may have.",
  ShareLinkNotFound:
    "Unknown, of another tunnel, or revoked already.",
  ShareLinkRefused:
    "The link is unknown, expired, used, revoked, or made for another host.",
  TunnelNotFound:
    "Foreign or unknown; one answer for both.",
  TunnelLimitReached:
    "The account has as many tunnels as it may have.",
  GrantNotFound:
    "The account was not granted access, or not asked for it.",
  AccessRefused:
    "A field of an access window cannot be used.",
  BadgeNotFound:
    "Anything but the exact public id of an enabled badge.",
  ReceiptsUnavailable:
    "The edge did not supply the receipts.",
  MalformedRequest:
    "The request cannot be read: a body that is not JSON, a malformed path, query or header value, or a malformed text.",
  WrongShape:
    "The body is JSON, but a member is missing or of the wrong type.",
  UnsupportedMediaType:
    "The body is of a media type that the route does not read.",
  BodyTooLarge:
    "The body is longer than the service reads.",
  RouteNotFound:
    "There is no such route; also what an absent route family answers.",
  MethodNotAllowed:
    "The path exists, the method does not.",
  RangeNotSatisfiable:
    "None of the bytes that were asked for are in what is served.",
  RateLimited:
    "The caller asked more often than it may; `retry_after` is in seconds and is also the header of that name.",
  LimitReached:
    "What is added to has as many of the kind as it may have; something is to be removed first.",
  InternalFailure:
    "A fault of the service. What happened is in its log under the trace id, never in the answer.",
  DatabaseUnreachable:
    "The database does not answer.",
  NotHttp:
    "Bytes that are no request of HTTP/1.1.",
  NotServing:
    "The service listens, and its routes are not there yet or no longer.",
  FormSentBefore:
    "A form of the portal came a second time, and the page that answered it is not there any more.",
  IdempotencyKeyReused:
    "The idempotency key was used before, for something else."
}
