/**
 * What every group and route of the control plane is for, in a sentence, for those who read the OpenAPI document. A test
 * holds that none is without one.
 */
import { maxRoomHolders, minRoomHolders } from "../channels/Channel.ts"
import { maxTokensPerBatch } from "../values/Quotas.ts"

type GroupSummaries = { readonly about: string; readonly routes: Readonly<Record<string, string>> }

/** By the name of the group, and of the endpoint in it. */
export const endpointSummaries: Readonly<Record<string, GroupSummaries>> = {
  status: {
    about: "Status and network",
    routes: {
      status: "Public counts, and whether access tokens can be verified.",
      live: "Whether the process answers.",
      ready: "Whether the database can be read.",
      networkInfo: "The ports of this installation.",
      edgeCa: "The root certificate of the mesh plane, DER; agents pin it."
    }
  },
  enrollment: {
    about: "Enrolment of agents",
    routes: {
      issue: "Makes a join token, good once, for a tenant.",
      issueBatch: `Makes up to ${maxTokensPerBatch} join tokens at once.`,
      redeem: "Enrols an agent by a join token and a proof that it holds its key.",
      outstanding: "The join tokens that nobody has redeemed, by their hashes.",
      mintBootstrap: "Keeps a secret under a token that gives it out once.",
      outstandingBootstraps: "The bootstrap tokens that still give out a secret, by their hashes.",
      redeemBootstrap: "Gives the secret of a bootstrap token, once; again only to the key that redeemed it."
    }
  },
  provisioning: {
    about: "Tunnels by operators",
    routes: {
      provisionTunnel: "Makes a tunnel with a host name for somebody else.",
      list: "The tunnels of everybody, without their routing tokens.",
      authorizeHost: "Binds a host name to a routing token, at the edge and on record."
    }
  },
  admission: {
    about: "Certificates",
    routes: {
      admission: "How far a host name is on its way to a certificate of its own, and from which authority to get it.",
      issuanceComplete: "Says that the certificate is there: the edge passes the host's connections through unopened.",
      issuanceFailed: "Says that an authority gave no certificate, and why; the answer may name another authority.",
      standing:
        "Where a host name stands: its place in the queue, what its agent does now, why an authority refused it.",
      issuanceProgress: "Says what an agent does for a certificate; the agents of a tunnel order one after another.",
      setChallenge: "Publishes the TXT record of an ACME dns-01 challenge.",
      clearChallenge: "Removes the TXT record of a challenge."
    }
  },
  tunnels: {
    about: "Tunnels",
    routes: {
      create: "Makes a tunnel; without a host name it gets one, where the operator has a zone for that.",
      list: "Your tunnels, and those you were granted.",
      change: "Renames a tunnel, or says whether its visitors must sign in and its agents must prove a key.",
      remove: "Ends a tunnel: its routing token is revoked at the edge.",
      get: "One tunnel.",
      install: "What an agent needs to serve the tunnel, with a fresh join token.",
      verifyHostname: "Looks for the DNS record that proves the tunnel's own host name; with it the name is routed.",
      rotateToken: "Gives the tunnel a new routing token and revokes the old one; everything else stays.",
      reclaim: "Queues again for a certificate of its own, after the claim has lapsed.",
      grant: "Lets another account see the tunnel and install it.",
      listGrantees: "The accounts that a tunnel is granted to.",
      ungrant: "Takes a grant back, with the keys enrolled through it and the join tokens that were not redeemed.",
      allowVisitor: "Lets an e-mail address past the login gate.",
      listVisitors: "The e-mail addresses that may pass the login gate.",
      disallowVisitor: "Takes an e-mail address off that list.",
      dismissAccessRequest: "Drops a visitor's request to be let in.",
      listAccessRequests: "Who was turned away at the gate and asked to be let in."
    }
  },
  tunnelControls: {
    about: "Alerts, access windows, share links and badges",
    routes: {
      saveAlert: "Sets the webhook that is told when the tunnel is down; the secret is shown when it is made.",
      removeAlert: "Deletes the alert.",
      getAlert: "The alert of a tunnel.",
      testAlert: "Sends one signed tunnel.test delivery now.",
      setAccess: "Restricts visits to a time, a weekly schedule, or both.",
      clearAccess: "Lifts every restriction.",
      getAccess: "The restriction, and whether a visitor would get in now.",
      rearmAccess: "Opens for 24 hours and keeps the schedule.",
      setHttpOnly: "Lets visitors speak nothing but HTTP, or other protocols over TLS too.",
      getHttpOnly: "Whether visitors may speak nothing but HTTP.",
      mintShareLink: "Makes a link that lets who has it past the login gate; it is shown once.",
      listShareLinks: "The share links of a tunnel, without their tokens.",
      revokeShareLink: "Ends a link and the visits that it let in.",
      enableBadge: "Publishes the uptime as a badge; an enabled one keeps its address.",
      disableBadge: "Takes the badge down.",
      getBadge: "The public id of the badge, or null.",
      listDeliveries: "What was sent to the webhook lately, and how that ended."
    }
  },
  tunnelRecords: {
    about: "Uptime, usage and receipts",
    routes: {
      uptime: "Uptime over a day, a week and thirty days, and the sessions behind it.",
      receipts: "Signed receipts of the tunnel's sessions, a line each, in one chain that can be verified offline.",
      usage: "Uptime, sessions and bytes of every tunnel over thirty days.",
      usageCsv: "The same as CSV.",
      fleet: "How every tunnel is served just now."
    }
  },
  portalDownloads: {
    about: "Downloads of the portal",
    routes: {
      receipts: "The receipts of a tunnel, by the portal's session.",
      usageCsv: "Usage of every tunnel as CSV, by the portal's session."
    }
  },
  badges: { about: "Badges", routes: { svg: "The badge of a tunnel that has one enabled." } },
  bridge: {
    about: "Agent bridge",
    routes: {
      setMode: "Lets the operator's bridge reach the agent behind a tunnel, or not.",
      get: "How the bridge of a tunnel stands, and the keys that a grant must name.",
      storeGrant: "Keeps the grant that admits the bridge to a channel.",
      call: "Calls one tool of the agent over that channel."
    }
  },
  channels: {
    about: "Channels",
    routes: {
      list: "The ids of your channels, sorted.",
      register: "Registers a channel with the key of its operator; another key needs confirm_rekey.",
      get: "One channel.",
      deregister: "Drops a channel with its members, grants, allow-list and invites.",
      listMembers: "The members of a channel.",
      addMember: "Adds a member with its attested Noise key, or replaces that key.",
      removeMember: "Revokes a membership.",
      listGrants: "The grants that lie ready for members.",
      listAllowed: "The e-mail addresses that may claim a membership.",
      allow: "Lets an e-mail address claim a membership.",
      disallow: "Stops further claims by an e-mail address; memberships stay.",
      listClaimInvites: "The claim invites of a channel, without their tokens.",
      mintClaimInvite: "Makes a link by which somebody takes up a prepared membership, once, within 15 minutes.",
      mintJoinLink: "Keeps a sealed membership under a token that gives it out once, within a day.",
      listRooms: "The pairs that rooms have registered.",
      openRoom: `Registers a channel for every two of ${minRoomHolders} to ${maxRoomHolders} holders.`,
      depositGrant: "Keeps a signed grant for its member to fetch."
    }
  },
  claims: {
    about: "Claiming a membership",
    routes: {
      list: "The channels that your e-mail address is allow-listed for.",
      collectGrants: "Your claimed identities on a channel, with their grants where deposited.",
      showInvite: "What an invite offers; claims nothing.",
      claim: "Takes up a membership that your e-mail address is allow-listed for.",
      confirmInvite: "Takes up the membership of an invite, and burns it."
    }
  },
  invitations: {
    about: "Invitations across accounts",
    routes: {
      challenge: "A nonce to sign into a redemption.",
      redeem: "Redeems an invitation that the channel's operator signed."
    }
  },
  topologies: {
    about: "Topologies",
    routes: {
      create: "Makes a topology.",
      list: "Your topologies.",
      remove: "Deletes a topology; its agents are free again.",
      get: "Agents, edges and overlay mode of a topology that is yours or shared with you.",
      assignAgent:
        "Puts an agent into the topology; an agent is in one at most. With its signature it is taken from an account without.",
      unassignAgent: "Takes an agent out.",
      labelAgent: "Gives an agent a name in this topology.",
      putNoiseKey:
        "Stores the Noise key that an agent has attested for the channel of one of its links; with it the agent is admitted.",
      addEdge: "Links two agents.",
      removeEdge: "Cuts a link, and what it authorised.",
      noteChannel: "Notes a channel at a link, or clears the note; it authorises nothing.",
      setMode: "Chooses the overlay mode.",
      suggest: "Computes links of least cost from measured ones; writes nothing.",
      bindOperator: "Binds an operator's key by its proof: from then on links authorise channel admission.",
      unbindOperator: "Releases the operator's key.",
      getOperator: "The operator's key that is bound.",
      share: "Lets an account, by its e-mail address, view the topology and wire its own agents.",
      listShares: "Whom the topology is shared with.",
      unshare: "Ends that.",
      listShared: "Topologies shared with your verified e-mail address."
    }
  },
  networks: {
    about: "Public networks",
    routes: { get: "The agents and edges of a topology, for whoever has its public id." }
  },
  pipelines: {
    about: "Pipelines",
    routes: {
      publish: "Publishes a pipeline under an id, or replaces your own.",
      listOwn: "Your pipelines.",
      withdraw: "Withdraws a pipeline.",
      publishFor: "Publishes a pipeline in the name of the operator or of another owner.",
      list: "Every published pipeline, with its owner.",
      get: "One published pipeline."
    }
  },
  directory: {
    about: "Agent directory",
    routes: {
      register: "Lists an agent with its card.",
      enlist: "Lists an agent for your account, with a proof by its holder key, until its card expires.",
      listOwn: "Your agents in the directory.",
      unlist: "Takes an agent of yours out of the directory.",
      search: "Agents that have exactly this role, or this skill, or both.",
      get: "One agent.",
      registerRendezvous: "Records which agent serves a routing token, for an operator's self-test.",
      resolveRendezvous: "Which agent serves a routing token."
    }
  },
  serviceAccounts: {
    about: "Service accounts",
    routes: {
      create: "Makes a machine credential at the identity provider; its secret is shown here and at rotation only.",
      list: "Your service accounts, without secrets.",
      get: "One service account.",
      remove: "Deletes the credential at the identity provider, at once and for good.",
      rotate: "A new secret for the same client; the old one stops at once."
    }
  },
  credits: {
    about: "Credits",
    routes: {
      account: "Your account and its balance.",
      issue: "Buys a routing token for one credit.",
      listIssued: "What the credits were spent on."
    }
  },
  accounts: {
    about: "Account",
    routes: {
      buyCredits: "Intends a payment; the balance changes when the payment provider confirms it.",
      listPayments: "Your payments.",
      remove: "Deletes what the account has here; the sign-in at the identity provider stays.",
      auditLog: "The audit entries of your own actions."
    }
  },
  billing: {
    about: "Billing by operators",
    routes: {
      openAccount: "Opens an account that belongs to no sign-in.",
      getAccount: "An account and its balance.",
      intendPayment: "Intends a payment into an account.",
      getPayment: "One payment.",
      issue: "Buys a routing token from an account."
    }
  },
  paymentWebhook: {
    about: "Payment events",
    routes: { confirm: "The payment provider's signed event, which credits the account once." }
  },
  operators: {
    about: "Accounts by operators",
    routes: {
      setMaxTunnels: "Sets how many tunnels an account may have.",
      setMaxChannels: "Sets how many channels an account may have.",
      limits: "The limits of an account.",
      auditLog: "The whole audit log, newest first."
    }
  },
  edges: {
    about: "Edges",
    routes: {
      authorizeChannel: "Whether a holder is admitted to a channel, and by which keys.",
      revokedTokens: "The routing tokens that no edge may serve.",
      heartbeat: "An edge says that it lives and where it is reached.",
      ticketKeys: "The keys of session tickets for an edge, sealed for the one that asks.",
      agentProved:
        "An edge says that an agent has proved its key, which every agent of the tunnel has to from then on.",
      list: "The edges that have reported themselves, and which of them live.",
      lookup: "The live edge where a routing token or host name is served.",
      rehydrate: "Everything that an edge must know when it starts.",
      rebind: "Forgets the key that an edge was pinned to.",
      checkVisitor: "Whether a visitor of a host may pass its login gate, and who it is.",
      redeemGateCode: "Exchanges the code of a sign-in for a visitor's session at one host; once.",
      endVisit: "Ends a visitor's session."
    }
  }
}
