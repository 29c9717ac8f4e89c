/** What the comments over the errors say; `ErrorSentences.test.ts` writes it, whole and so as long as there are errors. */
export const errorSentences: Readonly<Record<string, string>> = {
  PipelineNotFound:
    "No pipeline has this id.",
  NotPipelineOwner:
    "The id belongs to another account; returned to account holders.",
  PipelineIdTaken:
    "The id belongs to another owner; returned to operators.",
  RoleTagRepeated:
    "Two roles of the pipeline have the same tag.",
  RoleWithoutUnits:
    "A role must request at least one unit.",
  DirectoryProofRefused:
    "The proof of the holder key is not valid for this registration.",
  AgentNotListed:
    "The directory has no entry for this holder.",
  PriceBelowOne:
    "The price is below that of one token.",
  InsufficientCredits:
    "The balance does not cover the price; nothing was debited.",
  CreditsOutOfRange:
    "Credits are bought in whole numbers of at least 1.",
  AccountUnknown:
    "No account has this id.",
  PaymentUnknown:
    "No payment intent has this id.",
  WebhookSignatureRefused:
    "The event is not signed with the shared secret, or is too old or too new.",
  NotHostnameOwner:
    "The routing token is wrong or does not own the host name; the response does not distinguish the two.",
  AgentProofRequired:
    "The agents of the tunnel must prove an enrolled key, and the request contains no such proof.",
  HostnameGuarded:
    "The tunnel requires a login or HTTP only, which not every agent of the tunnel enforces for an end-to-end (gruen) name.",
  HostnameUnknown:
    "No tunnel has this host name.",
  NotAdmitted:
    "The host name may not order a certificate at present.",
  DnsProviderFailed:
    "The DNS provider refused the change or is unreachable.",
  DnsBusy:
    "Too many challenges are waiting for their name servers.",
  DnsNotConverged:
    "The challenge is published, but not every name server returns it yet.",
  ClaimNotLapsed:
    "The certificate claim of the tunnel's host name has not lapsed, so it cannot be queued again.",
  ChallengeNotDelegated:
    "DNS does not let the platform answer for the certificates of a wildcard.",
  ChallengeNotBrokered:
    "A DNS-01 challenge is published only for names that the platform or an operator assigned.",
  BridgeNotConfigured:
    "This installation has no keys for the agent bridge.",
  BridgeGrantMissing:
    "The tunnel has no grant for the bridge.",
  BridgeCallFailed:
    "The bridge could not reach the agent, or the agent refused the call.",
  NotChannelOwner:
    "The channel belongs to another account or does not exist; the response does not distinguish the two.",
  ChannelNotFound:
    "The channel belongs to another account or does not exist; the response does not distinguish the two.",
  ChannelLimitReached:
    "The account has reached its limit of channels.",
  OperatorMismatch:
    "The channel is registered with another operator key, and the request does not confirm the change.",
  OperatorProofRefused:
    "The proof of the operator key is invalid, or the channel id is not derived as the request states.",
  LinkOperatorDiffers:
    "The channel belongs to a topology link whose bound operator has another key.",
  AttestationRefused:
    "The signature over (channel, holder, Noise key) does not verify under the holder's key.",
  ClaimProofRefused:
    "The second proof of a claim is not one by the holder for the account that claims.",
  GrantUndecodable:
    "The bytes are not a valid grant.",
  GrantMismatch:
    "The grant was signed for another channel or another holder.",
  MemberNotFound:
    "The holder of the grant is not a member of the channel.",
  RoomSizeOutOfRange:
    "A room has a minimum and a maximum number of holders; the response states them.",
  HolderRepeated:
    "A holder is listed twice in the room.",
  RoomPairTaken:
    "A channel of the room belongs to another account, or has another operator; nothing was registered.",
  NotAllowListed:
    "The session's e-mail may not claim on this channel.",
  HolderClaimedElsewhere:
    "Another account has claimed this holder.",
  NothingClaimed:
    "The account has claimed no membership of this channel.",
  ClaimInviteUnknown:
    "No claim invite has this token.",
  ClaimInviteGone:
    "The claim invite has been used or has expired.",
  ChannelUnknown:
    "No account has registered a channel with this id.",
  InvitationRefused:
    "The invitation, the challenge, the redemption signature or the attestation is invalid; the response does not state which.",
  InvitationExpired:
    "The operator's invitation has expired.",
  InvitationSpent:
    "The invitation has already been redeemed.",
  MemberNotAdmitted:
    "The holder is neither a keyed member of the channel nor authorized by a bound topology with a Noise key on record.",
  HistoryDisabled:
    "The edge is configured without the history that this route reads.",
  ReceiptsDisabled:
    "The edge is configured without receipts.",
  EdgeUnhealthy:
    "A background loop or a listener of the edge has stopped, or has not started.",
  HeartbeatRefused:
    "The edge is pinned to a key, and the heartbeat is not signed with it.",
  HeartbeatProofIncomplete:
    "A heartbeat must contain both key and signature, or neither.",
  TicketKeysRefused:
    "The request is not signed with the key to which the edge is pinned; an edge without a pinned key gets no keys and no certificates.",
  LookupAmbiguous:
    "A lookup takes one of token, host and port.",
  NoLiveEdge:
    "No live edge serves this token, host name or port.",
  RefusedOrderUnknown:
    "No rejected order has this id.",
  EdgeUnknown:
    "No edge has this id.",
  EdgeUnavailable:
    "The edge did not accept the order: it is unreachable or returned an error.",
  EdgeCaNotPublished:
    "The edge has not published its certificate authority yet.",
  EdgeCaNotConfigured:
    "The control plane cannot obtain the edge's certificate authority; an operator must correct its settings.",
  JoinProofRefused:
    "The signature over the join token does not verify under the key in the request.",
  JoinTokenUnknown:
    "No operator or account issued this join token, or it has been deleted.",
  JoinTokenSpent:
    "The join token has already been redeemed.",
  AgentAlreadyEnrolled:
    "The same agent has already redeemed the join token, with the same key and a valid proof. The response may have been lost, so it is returned again.",
  BatchCountOutOfRange:
    "A batch has a minimum and a maximum number of tokens; the response states them.",
  BootstrapTokenUnknown:
    "No operator or account created this bootstrap token, or it has been deleted.",
  BootstrapTokenSpent:
    "The bootstrap token has already been redeemed.",
  BootstrapProofRefused:
    "The signature over the bootstrap token does not verify under the key in the request.",
  BootstrapAlreadyRedeemed:
    "The same agent has already redeemed the bootstrap token, with the same key and a valid proof. The response may have been lost, so the secret is returned again until the token expires.",
  BootstrapTokenExpired:
    "The bootstrap token has expired; this attempt has used it up.",
  ServiceAccountNotFound:
    "The service account does not exist, belongs to another account or is not ready yet; the response does not distinguish these.",
  ServiceAccountLimitReached:
    "The account has reached its limit of service accounts.",
  IdentityProviderFailed:
    "The identity provider refused the request or is unreachable; nothing was changed here.",
  IdentityProviderNotConfigured:
    "This installation has no administrative access to an identity provider.",
  Unauthenticated:
    "The request has no bearer token or session, or an invalid one.",
  AdminTokenRefused:
    "The admin header is missing, malformed or wrong.",
  MetricsTokenRefused:
    "The metrics token is missing or wrong.",
  CrossSiteRequest:
    "A browser sent a write with the session cookie from a page of another origin.",
  SessionNotFound:
    "The account has no session with this id.",
  SignInRefused:
    "The identity provider's response belongs to no sign-in that this browser began, has already been used, or arrived too late.",
  SignInCancelled:
    "The user or the identity provider cancelled the sign-in.",
  EmailDomainRefused:
    "Only accounts with an e-mail address of certain domains may use this installation.",
  SignInFailed:
    "The identity provider did not identify the user.",
  SignInNotConfigured:
    "No client at an identity provider is configured.",
  VerifiedEmailRequired:
    "The route requires an e-mail address that the identity provider has verified.",
  TopologyNotFound:
    "The topology does not exist or is not accessible to the account, or a proof does not bind it; the response does not distinguish these.",
  TopologyLimitReached:
    "The account has reached its limit of topologies.",
  NetworkUnknown:
    "No topology has this public id.",
  PlacementProofInvalid:
    "The proof is not the signature of the agent's key over this topology and this account.",
  NotAgentOwner:
    "Another account placed this agent first, or the agent's key has signed for another account.",
  AgentAssigned:
    "The agent is already in a topology, possibly this one.",
  AgentNotAssigned:
    "The agent is not in this topology.",
  EdgeRefused:
    "The edge cannot be added.",
  EdgeNotFound:
    "The edge does not exist, or the account cannot edit the topology.",
  ChannelUnrelated:
    "The account neither owns the channel nor is on its allow-list.",
  NothingToSuggest:
    "The links of a baseline overlay are set by hand, so none are suggested.",
  ShortcutBudgetTooLarge:
    "The number of shortcuts in a suggestion is limited; the response states the limit.",
  TooManyAgents:
    "The number of agents in a suggestion is limited; the response states the limit.",
  ShareNotFound:
    "The topology belongs to another account, or is not shared with this address; the response does not distinguish the two.",
  LoginNotRequired:
    "A share link lets visitors pass a login gate, and the tunnel has none.",
  TunnelWithoutHostname:
    "A share link points to a host name, and the tunnel has none.",
  ShareLinkNeedsHost:
    "A share link leads to one name, and the tunnel has a wildcard, or another name than the one that was asked for.",
  ShareLinkNeedsGelb:
    "A share link lets visitors pass a login gate, which nobody enforces at this host: not the edge, and no agent.",
  ShareLinkLimitReached:
    "The tunnel has reached its limit of active share links.",
  ShareLinkNotFound:
    "The share link does not exist, belongs to another tunnel or is already revoked.",
  ShareLinkRefused:
    "The link is unknown, expired, used, revoked, or made for another host.",
  HostNotGated:
    "The host has no login gate, or belongs to no tunnel.",
  VisitorNotAllowed:
    "The owner has not allowed this signed-in visitor.",
  GateCodeRefused:
    "The code is unknown, used, expired, for another host, or from a sign-in begun in another browser.",
  CallerRefused:
    "The access token of a program is not accepted at a host of the tunnel: `token` where it is not valid or made for another resource, `account` where its account may not visit the tunnel.",
  GateNotConfigured:
    "Login gates need a cookie domain and a client at the identity provider, and one of them is not configured.",
  AccessWindowClosed:
    "The tunnel is closed to visitors now. `opens_at` is null if no opening is scheduled.",
  HostnameReserved:
    "No tunnel can have this host name.",
  HostnameNotProved:
    "DNS has no record that proves the host name.",
  NoHostnameToVerify:
    "The tunnel has no host name that must be proved: it has none, or the platform or an operator assigned it.",
  HostnameHeld:
    "The tunnel has a host name that its owner proved or an operator assigned.",
  DnsUnanswered:
    "The resolver did not answer, so the proof could not be checked.",
  RoutingTokenRevoked:
    "The routing token was revoked with its tunnel; no host name can use it.",
  HostnameTaken:
    "Another tunnel has this host name.",
  PortRefused:
    "A field of the request contradicts the kind of the tunnel, or the port is none that edges offer.",
  PortTaken:
    "Another tunnel has the port.",
  NoPortLeft:
    "No edge offers a port of the protocol, or no port is left for the account.",
  PortLimitReached:
    "The account has reached its limit of public ports.",
  AlertRefused:
    "A field of the alert is not acceptable.",
  AlertNotFound:
    "The tunnel has no alert.",
  DeliveryBudgetSpent:
    "The hourly limit of deliveries has been reached.",
  TunnelNotFound:
    "The tunnel does not exist or belongs to another account; the response does not distinguish the two.",
  TunnelLimitReached:
    "The account has reached its limit of tunnels.",
  RulesRefused:
    "A rule needs something that the tunnel does not have.",
  RuleLimitReached:
    "The account has reached its limit of rules, over all of its tunnels.",
  GrantNotFound:
    "The account has no grant and no pending access request.",
  AccessRefused:
    "A field of the access window is not acceptable.",
  BadgeNotFound:
    "No enabled badge has exactly this public id.",
  ReceiptsUnavailable:
    "The edge did not supply the receipts.",
  MalformedRequest:
    "The request cannot be parsed: the body is not JSON, or a path, query or header value or a text is malformed.",
  WrongShape:
    "The body is JSON, but a member is missing or has the wrong type.",
  UnsupportedMediaType:
    "The route does not accept the media type of the body.",
  BodyTooLarge:
    "The body is longer than the route accepts.",
  RouteNotFound:
    "The route does not exist or is disabled.",
  MethodNotAllowed:
    "The path does not support this method.",
  RangeNotSatisfiable:
    "The requested range is outside of the content.",
  RateLimited:
    "The caller has exceeded the rate limit; `retry_after` is in seconds, as is the header of that name.",
  LimitReached:
    "The limit for entries of this kind has been reached; remove one first.",
  InternalFailure:
    "An internal error. The log has the details under the trace id; the response does not contain them.",
  DatabaseUnreachable:
    "The database does not answer.",
  NotHttp:
    "The request is not HTTP/1.1.",
  NotServing:
    "The service is starting or shutting down, and its routes are unavailable.",
  FormSentBefore:
    "A form of the portal was submitted a second time, and the first response is no longer stored.",
  IdempotencyKeyReused:
    "The idempotency key has already been used for a different request."
}
