/**
 * Every cap of the edge on something that is shared, with the test in which one address, account, tunnel or connection takes all it
 * can and a second one is served. A new cap needs a row.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** A cap by its variable, or by its file and constant: the file of its test, and words of that test's title. */
const shared: Readonly<Record<string, readonly [file: string, title: string]>> = {
  CT_EDGE_MAX_CONNECTIONS: ["listen/FairConnections", "an address that holds fewer connections gets in"],
  CT_EDGE_MAX_CONNECTIONS_PER_IP: ["quic/QuicFloods", "have their share of connections"],
  CT_EDGE_MAX_CONNECTION_RATE_PER_IP: ["listen/ConnectionRateLimiter", "delay no other address"],
  CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: ["frontdoor/VisitorsOfTunnel", "of an address that fills the edge give way"],
  CT_EDGE_MAX_VISITORS_PER_TUNNEL: ["frontdoor/VisitorsOfTunnel", "of an address that fills a tunnel give way"],
  CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: ["sessions/FairAgents", "one account has half of them with all its tunnels"],
  "sessions/AgentPlaces maxPerTunnel": ["sessions/AgentPlaces", "one tunnel has 64, whose oldest gives way"],
  "sessions/StreamShares maxPerAddress": ["sessions/StreamShares", "go to an address that holds fewer"],
  "terminate/VisitorAuthCache maxKept": ["terminate/VisitorAuthCache", "is not forgotten for strangers"],
  "terminate/VisitorAuthCache maxAsking": ["terminate/VisitorAuthCache", "other tunnels have their own"],
  "terminate/VisitorAuthCache maxAskingPerAddress": [
    "terminate/GateFlood",
    "leaves signed-in visitors of other addresses served"
  ],
  "terminate/VisitorAuthCache maxSignedPerAddress": [
    "terminate/VisitorAuthCache",
    "has 16 of 32 requests for each address"
  ],
  "terminate/VisitorAuthCache unknownPerMinute": [
    "terminate/VisitorAuthCache",
    "is requested 600 times a minute at most"
  ],
  "terminate/RapidResetLimiter resetsPerMinute": [
    "terminate/RapidResetLimiter",
    "is that of one address at one tunnel"
  ],
  "terminate/TerminatedConnections maxStalled": ["terminate/SlowReaders", "another address keeps its own"],
  "quic/QuicPeers maxRegistrations": ["quic/QuicPeers", "one tunnel leaves room for another"]
}

/** Caps that nobody shares, or that are reached without a refusal, and why. */
const own: Readonly<Record<string, string>> = {
  "sessions/EchoRounds maxBegun": "the edge's own echoes",
  "sessions/EchoRounds maxOpen": "the edge's own echoes",
  "sessions/EchoRounds maxAgents": "of one tunnel",
  "sessions/TunnelOwnership maxOwners": "the least recently seen make room",
  "sessions/AgentAdmissions maxWaiting": "reports of the edge to the control plane",
  "sessions/MuxAgents maxRegistrations": "of one connection",
  "terminate/RequestHead maxHead": "bytes of one message",
  "terminate/Http2Connections maxStrikes": "of one connection",
  "terminate/Http2Connections maxRestMillis": "of one connection",
  "quic/DirectListeners maxListeners": "the ports of one host",
  "channels/LastSeenTable maxSeen": "what is forgotten refuses nothing",
  "channels/MemberAuthority maxRemembered": "what is forgotten is asked again",
  "channels/JoinPenalties maxAddresses": "what is forgotten admits more"
}

/** Caps on shared resources that have no test with two parties yet. */
const unproved = new Set(["CT_EDGE_MAX_WS_CHANNEL_CONNECTIONS", "CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS"])

const sources = globSync("src/{sessions,listen,frontdoor,terminate,quic,channels,settings}/*.ts", { cwd: root })
const caps = sources.flatMap((file) => {
  const source = readFileSync(join(root, file), "utf8")
  if (file.startsWith("src/settings/")) return source.match(/\bCT_EDGE_MAX_\w+/g) ?? []
  const constants = source.matchAll(
    /^(?:export )?const ((?:max|most)[A-Z]\w*|\w+Per(?:Minute|Second|Address|Tunnel|Account))\b/gm
  )
  return Array.from(constants, ([, name]) => `${file.slice("src/".length, -".ts".length)} ${name}`)
})

describe("fair shares", () => {
  it("every cap of the edge has a row, and every row a cap", () => {
    const rows = [...Object.keys(shared), ...Object.keys(own), ...unproved]
    assert.deepStrictEqual(
      [...new Set(caps)].filter((cap) => !rows.includes(cap)),
      [],
      "caps without a row"
    )
    assert.deepStrictEqual(
      rows.filter((row) => !caps.includes(row)),
      [],
      "rows without a cap"
    )
  })

  it.each(Object.entries(shared))("%s has a test with a second party", (_, [file, title]) => {
    const source = readFileSync(join(root, `test/${file}.test.ts`), "utf8")
    assert.include(source, title)
  })
})
