/** The caps of the edge, of its reverse proxy and of what carries its connections. */
import { holds } from "@catenet/testing/FairShares"

holds({
  of: "edge",
  sources: [
    "edge/src/**/*.ts",
    "proxy/src/**/*.ts",
    "platform/src/*.ts",
    "wire/src/{channels,quic/side,transport}/*.ts"
  ],
  variables: { in: "edge/src/settings/*.ts", named: /\bCT_EDGE_MAX_\w+/gu },
  shared: {
    CT_EDGE_MAX_CONNECTIONS: ["listen/FairConnections", "an address that holds fewer connections gets in"],
    CT_EDGE_MAX_CONNECTIONS_PER_IP: ["quic/QuicFloods", "have their share of connections"],
    CT_EDGE_MAX_CONNECTION_RATE_PER_IP: ["listen/ConnectionRateLimiter", "delay no other address"],
    CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: [
      "frontdoor/VisitorsOfTunnel",
      "of an address that fills the edge give way"
    ],
    CT_EDGE_MAX_VISITORS_PER_TUNNEL: ["frontdoor/VisitorsOfTunnel", "of an address that fills a tunnel give way"],
    CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: ["sessions/FairAgents", "one account has half of them with all its tunnels"],
    CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS: ["channels/Limits", "of an address that takes all places give way"],
    CT_EDGE_MAX_WS_CHANNEL_CONNECTIONS: ["channels/ProxiedMembers", "of one address that have taken every WebSocket"],
    maxDialling: ["ports/PortVisits", "than one that takes every place"],
    maxPerTunnel: ["sessions/AgentPlaces", "one tunnel has 64, whose oldest gives way"],
    maxPerAddress: ["sessions/StreamShares", "go to an address that holds fewer"],
    unregisteredPerBlock: [
      "sessions/UnregisteredAgentQuota",
      "evict the oldest of their address block beyond its pool"
    ],
    maxKept: ["terminate/VisitorAuthCache", "is not forgotten for strangers"],
    maxAsking: ["terminate/VisitorAuthCache", "other tunnels have their own"],
    maxAskingPerAddress: ["terminate/GateFlood", "leaves signed-in visitors of other addresses served"],
    maxSignedPerAddress: ["terminate/VisitorAuthCache", "has 16 of 32 requests for each address"],
    unknownPerMinute: ["terminate/VisitorAuthCache", "is requested 600 times a minute at most"],
    maxRates: ["../proxy/rules/RateLimits", "and never those of another"],
    maxChecking: ["../proxy/rules/PasswordChecks", "give way to an address that waits for fewer"],
    checksPerMinute: ["../proxy/rules/PasswordChecks", "and another address is served"],
    maxStalled: ["terminate/SlowReaders", "another address keeps its own"],
    resetsPerMinute: ["terminate/RapidResetLimiter", "is that of one address at one tunnel"],
    crumbsPerSecond: ["terminate/Crumbs", "then at the rate of their address"],
    "quic/QuicPeers maxRegistrations": ["quic/QuicPeers", "one tunnel leaves room for another"],
    maxUnfinished: ["quic/QuicFloods", "nor agents out, whatever they send"]
  },
  own: {
    "the edge's own work": [
      "maxBegun",
      "maxOpen",
      "sessions/AgentAdmissions maxWaiting",
      "atOnce",
      "maxAtOnce",
      "maxProcesses",
      "maxAutomatic",
      "maxRowsWaiting",
      "maxSilences"
    ],
    "of one tunnel": ["sessions/EchoRounds maxAgents", "relay/FailOver maxAgents"],
    "of one connection, stream, holder or message": [
      "sessions/MuxAgents maxRegistrations",
      "maxRegistrationsPerConnection",
      "ports/UdpSession maxWaiting",
      "maxKeptBytes",
      "maxParks",
      "maxStreams",
      "maxSendHeaderBlockLength",
      "maxHead",
      "maxFields",
      "maxStrikes",
      "maxRestMillis",
      "maxCharacters",
      "maxEdits"
    ],
    "the ports of one host": ["maxListeners"],
    "the network card, which no client of UDP can slow down": ["maxUnsent"],
    "what is forgotten is asked again, admits more or refuses nothing": [
      "maxKeySets",
      "maxOwners",
      "maxSeen",
      "maxRemembered",
      "maxVerified",
      "maxAddresses",
      "remembered",
      "maxMisses",
      "maxKeys",
      "maxHeard"
    ]
  }
})
