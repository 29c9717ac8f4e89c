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
      status: "Returns public counts, and whether access tokens can be verified.",
      live: "Reports whether the process answers.",
      ready: "Reports whether the database can be read.",
      networkInfo: "Returns the ports of this installation.",
      edgeCa: "Returns the root certificate of the mesh plane (DER), which agents pin."
    }
  },
  enrollment: {
    about: "Enrollment of agents",
    routes: {
      issue: "Creates a single-use join token for a tenant.",
      issueBatch: `Creates up to ${maxTokensPerBatch} join tokens at once.`,
      redeem: "Enrolls an agent with a join token and a proof of its key.",
      outstanding: "Lists the unredeemed join tokens by their hashes.",
      mintBootstrap: "Stores a secret under a bootstrap token, which returns it once.",
      outstandingBootstraps: "Lists the bootstrap tokens that can still be redeemed, by their hashes.",
      redeemBootstrap:
        "Redeems a bootstrap token for its secret, once; afterwards only the key that redeemed it gets the secret again.",
      currentToken: "Returns the current routing token of a tunnel for a former one and a proof of an enrolled key.",
      reportVersion: "Reports the agent's version, for carriers whose registration has no place for it."
    }
  },
  provisioning: {
    about: "Tunnels, for operators",
    routes: {
      provisionTunnel: "Creates a tunnel with a host name for another account.",
      list: "Lists the tunnels of all accounts, without their routing tokens.",
      authorizeHost: "Binds a host name to a routing token, at the edges and in the database."
    }
  },
  admission: {
    about: "Certificates",
    routes: {
      admission: "Returns whether a host name may order its own certificate, and from which authority.",
      issuanceComplete: "Reports that the certificate has been issued: the edge then passes the host's TLS through.",
      issuanceFailed:
        "Reports that an authority issued no certificate, and why; the response may assign another authority.",
      standing:
        "Returns the certificate status of a host name: its place in the queue, what its agent is doing, why an authority refused it.",
      issuanceProgress: "Reports the progress of an agent's order; the agents of a tunnel order one after another.",
      setChallenge: "Publishes the TXT record of an ACME dns-01 challenge.",
      clearChallenge: "Removes the TXT record of an ACME dns-01 challenge."
    }
  },
  tunnels: {
    about: "Tunnels",
    routes: {
      create: "Creates a tunnel; without a host name it is assigned one, if the operator has configured a zone.",
      list: "Lists your tunnels and those granted to you.",
      change: "Renames a tunnel, or sets whether visitors must sign in and whether agents must prove a key.",
      remove: "Deletes a tunnel; its routing token is revoked at the edges.",
      get: "Returns a tunnel.",
      install: "Returns the settings that an agent needs to serve the tunnel, with a new join token.",
      verifyHostname:
        "Looks up the DNS record that proves ownership of the tunnel's host name; if found, the name is routed.",
      rotateToken: "Gives the tunnel a new routing token and revokes the old one; everything else is kept.",
      reclaim: "Returns the tunnel to the certificate queue after its claim has lapsed.",
      grant: "Grants another account access to see and install the tunnel.",
      listGrantees: "Lists the accounts that have been granted access to the tunnel.",
      ungrant: "Revokes a grant, with the keys enrolled through it and its unredeemed join tokens.",
      allowVisitor: "Allows an e-mail address to pass the login gate.",
      listVisitors: "Lists the e-mail addresses that may pass the login gate.",
      disallowVisitor: "Removes an e-mail address from the list for the login gate.",
      dismissAccessRequest: "Dismisses a visitor's access request.",
      listAccessRequests: "Lists visitors who were refused at the login gate and requested access."
    }
  },
  tunnelControls: {
    about: "Alerts, access windows, share links and badges",
    routes: {
      saveAlert:
        "Sets the webhook that is called when the tunnel is down; its secret is shown only when it is created.",
      removeAlert: "Deletes the alert.",
      getAlert: "Returns the alert of a tunnel.",
      testAlert: "Sends a signed tunnel.test event to the webhook.",
      setAccess: "Restricts access to a period, a weekly schedule, or both.",
      clearAccess: "Removes all access restrictions.",
      getAccess: "Returns the access restrictions, and whether a visitor would be admitted now.",
      rearmAccess: "Opens the tunnel for 24 hours and keeps the schedule.",
      setHttpOnly: "Sets whether visitors may use only HTTP, or other protocols over TLS as well.",
      getHttpOnly: "Returns whether visitors may use only HTTP.",
      mintShareLink: "Creates a link that lets anyone who has it pass the login gate; it is shown once.",
      listShareLinks: "Lists the share links of a tunnel, without their tokens.",
      revokeShareLink: "Revokes a share link and ends the visits that it admitted.",
      enableBadge: "Publishes the uptime as a badge; a badge that is already enabled keeps its address.",
      disableBadge: "Disables the badge.",
      getBadge: "Returns the public id of the badge, or null.",
      listDeliveries: "Lists recent deliveries to the webhook and their outcome."
    }
  },
  tunnelRecords: {
    about: "Uptime, usage and receipts",
    routes: {
      uptime: "Returns the uptime over a day, a week and thirty days, with the sessions.",
      receipts:
        "Exports the signed receipts of the tunnel's sessions, one on each line, in a chain that can be verified offline.",
      usage: "Returns uptime, sessions and bytes of every tunnel over thirty days.",
      usageCsv: "Returns the same as CSV.",
      fleet: "Returns how every tunnel is being served now."
    }
  },
  portalDownloads: {
    about: "Downloads in the portal",
    routes: {
      receipts: "Downloads the receipts of a tunnel, with a portal session.",
      usageCsv: "Downloads the usage of every tunnel as CSV, with a portal session."
    }
  },
  badges: { about: "Badges", routes: { svg: "Returns the badge of a tunnel that has one enabled." } },
  bridge: {
    about: "Agent bridge",
    routes: {
      setMode: "Sets whether the operator's bridge may reach the agent of a tunnel.",
      get: "Returns the bridge status of a tunnel and the keys that a grant must name.",
      storeGrant: "Stores the grant that admits the bridge to a channel.",
      call: "Calls one tool of the agent over that channel."
    }
  },
  channels: {
    about: "Channels",
    routes: {
      list: "Lists the ids of your channels, sorted.",
      register: "Registers a channel with its operator key; changing the key requires confirm_rekey.",
      get: "Returns a channel.",
      deregister: "Deletes a channel with its members, grants, allow-list and invites.",
      listMembers: "Lists the members of a channel.",
      addMember: "Adds a member with its attested Noise key, or replaces that key.",
      removeMember: "Revokes a membership.",
      listGrants: "Lists the grants deposited for members.",
      listAllowed: "Lists the e-mail addresses that may claim a membership.",
      allow: "Allows an e-mail address to claim a membership.",
      disallow: "Prevents further claims by an e-mail address; memberships are kept.",
      listClaimInvites: "Lists the claim invites of a channel, without their tokens.",
      mintClaimInvite: "Creates a link with which a person can claim a prepared membership, once, within 15 minutes.",
      mintJoinLink: "Stores an encrypted membership under a token that returns it once, within a day.",
      listRooms: "Lists the pairs that rooms have registered.",
      openRoom: `Registers a channel for every pair of ${minRoomHolders} to ${maxRoomHolders} holders.`,
      depositGrant: "Stores a signed grant for its member to collect."
    }
  },
  claims: {
    about: "Claiming a membership",
    routes: {
      list: "Lists the channels for which your e-mail address is on the allow-list.",
      collectGrants: "Returns your claimed identities on a channel, with their grants if deposited.",
      showInvite: "Returns what an invite offers, without claiming it.",
      claim: "Claims a membership for which your e-mail address is on the allow-list.",
      confirmInvite: "Claims the membership of an invite, which can then no longer be used."
    }
  },
  invitations: {
    about: "Invitations across accounts",
    routes: {
      challenge: "Returns a nonce to sign in a redemption.",
      redeem: "Redeems an invitation signed by the channel's operator."
    }
  },
  topologies: {
    about: "Topologies",
    routes: {
      create: "Creates a topology.",
      list: "Lists your topologies.",
      remove: "Deletes a topology and releases its agents.",
      get: "Returns the agents, edges and overlay mode of a topology that is yours or shared with you.",
      assignAgent:
        "Places an agent in the topology; an agent can be in one topology only. With the agent's signature, it is taken over from an account that placed it without.",
      unassignAgent: "Removes an agent from the topology.",
      labelAgent: "Sets an agent's name in this topology.",
      putNoiseKey:
        "Stores the Noise key that an agent has attested for the channel of one of its links, which admits the agent.",
      addEdge: "Links two agents.",
      removeEdge: "Removes a link and revokes what it authorized.",
      noteChannel: "Sets or clears the channel noted at a link; this authorizes nothing.",
      setMode: "Sets the overlay mode.",
      suggest: "Computes a set of links with the lowest cost from measured links; writes nothing.",
      bindOperator: "Binds an operator key with its proof; from then on, links authorize channel admission.",
      unbindOperator: "Removes the bound operator key.",
      getOperator: "Returns the bound operator key.",
      share: "Allows an account, given by its e-mail address, to view the topology and to link its own agents.",
      listShares: "Lists the accounts with which the topology is shared.",
      unshare: "Stops sharing the topology with an account.",
      listShared: "Lists topologies shared with your verified e-mail address."
    }
  },
  networks: {
    about: "Public networks",
    routes: { get: "Returns the agents and edges of a topology, given its public id." }
  },
  pipelines: {
    about: "Pipelines",
    routes: {
      publish: "Publishes a pipeline under an id, or replaces your own.",
      listOwn: "Lists your pipelines.",
      withdraw: "Withdraws a pipeline.",
      publishFor: "Publishes a pipeline on behalf of the operator or another owner.",
      list: "Lists every published pipeline with its owner.",
      get: "Returns a published pipeline."
    }
  },
  directory: {
    about: "Agent directory",
    routes: {
      register: "Adds an agent with its card to the directory.",
      enlist: "Adds an agent for your account, with a proof by its holder key, until its card expires.",
      listOwn: "Lists your agents in the directory.",
      unlist: "Removes one of your agents from the directory.",
      search: "Finds agents that have exactly this role, this skill, or both.",
      get: "Returns an agent of the directory.",
      registerRendezvous: "Records which agent serves a routing token, for an operator's self-test.",
      resolveRendezvous: "Returns the agent that serves a routing token."
    }
  },
  serviceAccounts: {
    about: "Service accounts",
    routes: {
      create: "Creates a service account at the identity provider; its secret is shown only now and at rotation.",
      list: "Lists your service accounts, without secrets.",
      get: "Returns a service account.",
      remove: "Deletes the service account at the identity provider, at once and permanently.",
      rotate: "Creates a new secret; the old one stops working at once."
    }
  },
  credits: {
    about: "Credits",
    routes: {
      account: "Returns your account and its balance.",
      issue: "Buys a routing token for one credit.",
      listIssued: "Lists what the credits were spent on."
    }
  },
  accounts: {
    about: "Account",
    routes: {
      buyCredits: "Creates a payment intent; the balance changes when the payment provider confirms it.",
      listPayments: "Lists your payments.",
      remove: "Deletes your account and its data here; the login at the identity provider is kept.",
      auditLog: "Lists the audit entries of your own actions."
    }
  },
  billing: {
    about: "Billing, for operators",
    routes: {
      openAccount: "Creates a credit account without a login.",
      getAccount: "Returns an account and its balance.",
      intendPayment: "Creates a payment intent for an account.",
      getPayment: "Returns a payment.",
      issue: "Buys a routing token with the credits of an account."
    }
  },
  paymentWebhook: {
    about: "Payment events",
    routes: { confirm: "Receives the payment provider's signed event, which credits the account once." }
  },
  operators: {
    about: "Accounts, for operators",
    routes: {
      setMaxTunnels: "Sets how many tunnels an account may have.",
      setMaxChannels: "Sets how many channels an account may have.",
      limits: "Returns the limits of an account.",
      auditLog: "Lists the whole audit log, newest first."
    }
  },
  edges: {
    about: "Edges",
    routes: {
      authorizeChannel: "Returns whether a holder is admitted to a channel, and its keys.",
      revokedTokens: "Lists the revoked routing tokens, which no edge may serve.",
      heartbeat: "Reports that an edge is live, and its address.",
      ticketKeys: "Returns the keys of session tickets, encrypted for the requesting edge.",
      agentProved: "Reports that an agent has proved its key; from then on, every agent of the tunnel must.",
      list: "Lists the edges that have sent heartbeats, and which of them are live.",
      lookup: "Returns the live edge that serves a routing token or host name.",
      rehydrate: "Returns everything that an edge needs when it starts.",
      rebind: "Removes the key to which an edge is pinned.",
      checkVisitor: "Returns whether a visitor may pass the login gate of a host, and the visitor's identity.",
      redeemGateCode: "Exchanges the code of a sign-in for a visitor session at one host, once.",
      endVisit: "Ends a visitor's session."
    }
  }
}
