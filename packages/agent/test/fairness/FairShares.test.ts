/** The caps of the agent. */
import { holds } from "@catenet/testing/FairShares"

holds({
  of: "agent",
  sources: ["agent/src/**/*.ts"],
  shared: {
    "channel/session/DirectPath maxStrangers": [
      "channel/DirectPath",
      "has strangers of one address leave room for a peer at another"
    ],
    maxVisits: ["tunnel/FirstRequestHead", "%s leaves room for those of another address"],
    maxStalled: ["../edge/terminate/SlowReaders", "another address keeps its own"],
    maxEndpointSessions: ["mcp/Sessions", "leave room for another caller when one has taken all places"],
    maxLargeBodies: ["mcp/Sessions", "of one caller leave room for another's"],
    wrongPerMinute: ["mcp/Sessions", "of one network are no longer asked about after thirty in a minute"],
    "mesh/DirectListener maxStrangers": ["mesh/DirectPath", "has strangers of one address leave room for another"]
  },
  own: {
    "clients that have proved a capability of this agent": ["mesh/DirectListener maxClients"],
    "access tokens that the control plane has admitted": ["maxTokens"],
    "programs of this machine": [
      "maxCallers",
      "connect/PortForward maxWaiting",
      "maxSessions",
      "connect/PortForward maxClients",
      "maxLines",
      "maxRunning"
    ],
    "of one session, connection or peer": [
      "maxBytes",
      "channel/room/RoomPair maxSilent",
      "maxAtOnce",
      "channel/rpc/MessageReader maxWaiting",
      "channel/session/DirectQuicPath maxSilent",
      "channel/session/TaggedStream maxWaiting",
      "maxStreams",
      "maxRefusals",
      "mostResets",
      "maxRestMillis",
      "maxUnanswered",
      "maxAsked",
      "maxPending",
      "maxEvents",
      "maxEarly",
      "maxUnread",
      "maxIdleLines"
    ],
    "the agent's own work": [
      "atOnce",
      "maxNonces",
      "maxKept",
      "maxRead",
      "maxCertificates",
      "maxAuthorities",
      "maxProviders",
      "maxFailures",
      "maxRemembered",
      "maxNames",
      "maxConcurrent",
      "maxStarts",
      "maxRequests",
      "maxTotal"
    ],
    "of one value, file or answer": [
      "maxEntries",
      "maxPaxBytes",
      "maxUnpackedBytes",
      "channel/install/Installer maxSeconds",
      "maxPages",
      "settings/ChannelOperatorVariables maxSeconds",
      "maxUnsigned",
      "maxGrants",
      "maxPairs",
      "maxHead",
      "maxCall",
      "maxForm",
      "maxShown",
      "maxBody",
      "maxBatch",
      "maxMessage",
      "maxListed",
      "maxFound"
    ]
  }
})
