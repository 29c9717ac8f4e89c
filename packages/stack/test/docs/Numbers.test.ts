/** The numbers that the guides repeat are those of the code. The tables of variables and of what is bounded have tests of their own. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")

/** A guide's prose in one line, without tables and code. */
const proseOf = (page: string) =>
  readFileSync(join(root, "docs", `${page}.md`), "utf8")
    .replaceAll(/^```[\s\S]*?^```$/gmu, "")
    .replaceAll(/^\|.*$/gmu, "")
    .replaceAll(/\s+/gu, " ")

/** The value of a constant: what its declaration says, with numbers computed. */
const constantOf = (file: string, name: string): string => {
  const source = readFileSync(join(root, "packages", file), "utf8")
  const [, written = ""] = new RegExp(`const ${name} = (.+)`, "u").exec(source) ?? []
  assert.notStrictEqual(written, "", `${file} has no constant ${name}`)
  const [, text] = /^"(.*)"$/u.exec(written) ?? []
  if (text !== undefined) return text
  const factors = written.split("*").map((factor) => Number(factor.trim().replaceAll("_", "")))
  return String(factors.reduce((product, factor) => product * factor, 1))
}

const count = (value: string) => Number(value).toLocaleString("en-US")
const mebibytes = (value: string) => `${Number(value) / 1_048_576} MiB`
const milliseconds = (value: string) => `${Number(value) / 1000} s`
const shortened = (value: string) => value.replace(/ seconds?$/u, " s").replace(/ millis$/u, " ms")

/** The page, the sentence's part before the number, the number as the page writes it, what follows, and the constant. */
const numbers: ReadonlyArray<
  readonly [page: string, before: string, after: string, file: string, name: string, write: (value: string) => string]
> = [
  [
    "edge",
    "does not answer within ",
    " is left out",
    "server/src/observability/StaleWhileRevalidate.ts",
    "patience",
    shortened
  ],
  ["agent", "Three failures within ", " take", "domain/src/rules/OriginHealth.ts", "windowMillis", milliseconds],
  ["agent", "It stays out for ", ",", "domain/src/rules/OriginHealth.ts", "firstMillis", milliseconds],
  ["agent", "for twice as long, at most ", ";", "domain/src/rules/OriginHealth.ts", "longestMillis", milliseconds],
  ["edge", "sent no heartbeat for ", ".", "server/src/edges/EdgeAddressStore.ts", "liveSeconds", (n) => `${n} s`],
  ["edge", "does not apply an order within ", " ", "edge/src/processes/WorkerHandle.ts", "applyTimeout", shortened],
  ["edge", "kills one that is silent for ", ".", "edge/src/processes/Workers.ts", "silenceMillis", milliseconds],
  ["edge", "at most ", ".", "edge/src/processes/WorkerEdge.ts", "reportEvery", shortened],
  ["edge", "after registration, then every ", ",", "edge/src/sessions/EchoRounds.ts", "periodMillis", milliseconds],
  ["edge", " every ", " while the origin is down", "edge/src/sessions/EchoRounds.ts", "downMillis", milliseconds],
  ["edge", "and every ", " while someone", "edge/src/sessions/EchoRounds.ts", "watchedMillis", milliseconds],
  [
    "edge",
    "that does not answer within ",
    " counts as silent",
    "edge/src/sessions/EchoRounds.ts",
    "patienceMillis",
    milliseconds
  ],
  ["edge", "A member waits ", ", or", "edge/src/channels/ChannelRoom.ts", "parkMillis", milliseconds],
  ["edge", "rechecks both members every ", " and", "edge/src/channels/ChannelRoom.ts", "askEvery", shortened],
  [
    "edge",
    "(grant, membership, key; ",
    " for each step)",
    "edge/src/channels/MemberAdmissions.ts",
    "joinLimit",
    shortened
  ],
  ["edge", "and after ", " of silence.", "edge/src/channels/ChannelRoom.ts", "relayNodeIdleMillis", milliseconds],
  [
    "edge",
    "less than 256 bytes: after ",
    " the first time",
    "proxy/src/http1/HeaderReadThrottle.ts",
    "firstRestMillis",
    milliseconds
  ],
  ["edge", ", then every ", ".", "proxy/src/http1/HeaderReadThrottle.ts", "restMillis", milliseconds],
  [
    "edge",
    "may reset ",
    " HTTP/2 streams of one tunnel in a minute",
    "edge/src/terminate/RapidResetLimiter.ts",
    "resetsPerMinute",
    count
  ],
  [
    "edge",
    "have ",
    " places for each address",
    "edge/src/sessions/UnregisteredAgentQuota.ts",
    "unregisteredPerBlock",
    count
  ],
  ["edge", "or has lasted ", " s.", "edge/src/history/UnregisteredTunnels.ts", "provenSeconds", count],
  [
    "edge",
    " s. ",
    " such tunnels keep their records",
    "edge/src/history/UnregisteredTunnels.ts",
    "unregisteredTunnels",
    count
  ],
  ["edge", "the newest ", " sessions", "edge/src/history/UnregisteredTunnels.ts", "sessionsOfUnnamed", count],
  ["edge", " sessions and ", " receipts.", "edge/src/history/UnregisteredTunnels.ts", "receiptsOfUnnamed", count],
  [
    "edge",
    "is larger than ",
    ".",
    "crypto/src/receipt/FileCheck.ts",
    "largestFile",
    (n) => `${Number(n) / 1048576} MB`
  ],
  [
    "channels",
    "Each attempt gets ",
    ";",
    "agent/src/channel/session/ConnectionStrategies.ts",
    "portMillis",
    milliseconds
  ],
  [
    "channels",
    "with a message every ",
    " and closed",
    "agent/src/channel/room/RoomPair.ts",
    "keepAliveEvery",
    (n) => n
  ],
  ["channels", "it waits up to ", " for a peer", "agent/src/channel/room/CallSocket.ts", "patience", (n) => n],
  ["channels", "https address, of ", "", "agent/src/channel/install/ServiceBundle.ts", "longestBundle", mebibytes],
  ["channels", " at most, ", "", "agent/src/channel/install/ServiceBundle.ts", "maxUnpackedBytes", mebibytes],
  ["channels", " and ", " entries unpacked", "agent/src/channel/install/BundleArchive.ts", "maxEntries", count],
  [
    "channels",
    "must succeed within ",
    ".",
    "agent/src/channel/install/Installer.ts",
    "maxSeconds",
    (n) => `${n} seconds`
  ],
  ["channels", "a complete call may take ", ".", "stack/src/bridge/ChannelDialer.ts", "callBound", (n) => n],
  [
    "channels",
    "on which transport, every ",
    " how many",
    "agent/src/channel/session/SessionLifecycle.ts",
    "statusPause",
    (n) => n
  ],
  [
    "portal",
    "redeemed once, within ",
    ",",
    "domain/src/enrollment/Bootstrap.ts",
    "connectLineSeconds",
    (n) => `${Number(n) / 60} minutes`
  ],
  [
    "channels",
    "in a process group of its own, for at most ",
    ".",
    "agent/src/channel/serve/HandlerProcess.ts",
    "patienceSeconds",
    (n) => `${n} seconds`
  ],
  [
    "agent",
    "responses larger than ",
    ".",
    "agent/src/onboard/OutgoingHttp.ts",
    "longestAnswer",
    (n) => `${Number(n) / 1024} KiB`
  ],
  ["agent", "if it answers within ", ",", "agent/src/connect/MeshClient.ts", "directMillis", milliseconds],
  [
    "agent",
    "after registration, then every ",
    ",",
    "edge/src/sessions/EchoRounds.ts",
    "periodMillis",
    (n) => `${Number(n) / 1000} seconds`
  ],
  [
    "agent",
    "to nothing else, for at most ",
    ".",
    "agent/src/tunnel/OriginProbe.ts",
    "probeMillis",
    (n) => `${Number(n) / 1000} seconds`
  ],
  [
    "agent",
    "after ",
    " without contact to the edge",
    "agent/src/observe/HealthCheck.ts",
    "silenceMillis",
    (n) => `${Number(n) / 1000} seconds`
  ],
  ["agent", "retries QUIC after ", ", then half", "agent/src/tunnel/CarrierHealth.ts", "probeMillis", milliseconds],
  [
    "agent",
    "after the others for ",
    ".",
    "agent/src/tunnel/CarrierHealth.ts",
    "longestProbeMillis",
    (n) => `${Number(n) / 60_000} minutes`
  ],
  ["agent", "no response for ", ", it", "agent/src/tunnel/QuicUpgrade.ts", "patienceMillis", (n) => `${n} ms`],
  ["agent", "ten minutes (every ", " on carriers", "agent/src/policy/KeptPolicy.ts", "pollMillis", milliseconds],
  ["agent", "serves at most ", " visitors'", "agent/src/tunnel/FirstRequestHead.ts", "maxVisits", count],
  ["agent", "that is silent for ", " after the TLS", "proxy/src/http1/FirstByte.ts", "silenceMillis", milliseconds],
  [
    "agent",
    "without a running request after ",
    ".",
    "agent/src/tunnel/TerminatedVisits.ts",
    "idleMillis",
    milliseconds
  ],
  ["agent", "with at most ", " of each", "agent/src/inspect/Exchange.ts", "maxBody", mebibytes],
  ["agent", " body and ", " in all", "agent/src/inspect/Recording.ts", "maxTotal", mebibytes],
  ["agent", "**Limits.** ", " sessions at once", "agent/src/mcp/Sessions.ts", "maxEndpointSessions", count],
  [
    "agent",
    "between callers; ",
    " for each message;",
    "agent/src/channel/mcp/MessageFrames.ts",
    "maxMessage",
    mebibytes
  ],
  [
    "agent",
    "a session ends ",
    " after its last",
    "agent/src/mcp/Sessions.ts",
    "idleMillis",
    (n) => `${Number(n) / 60_000} minutes`
  ],
  ["agent", "keeps the last ", " of each session", "agent/src/mcp/SentEvents.ts", "keptBytes", mebibytes],
  ["agent", "the agent waits ", " for it", "agent/src/carrier/QuicDial.ts", "dialMillis", milliseconds],
  ["channels", "A message may have ", ", and small", "agent/src/channel/mcp/MessageFrames.ts", "maxMessage", mebibytes],
  ["channels", "Up to ", " requests of a session", "agent/src/channel/mcp/McpServerProxy.ts", "maxAsked", count],
  ["operations", "once and within ", " s, for a cookie", "server/src/gate/GateCodes.ts", "codeLifetime", count],
  ["operations", "caches the answer for ", ".", "proxy/src/gate/VisitorAuthCache.ts", "keptMillis", milliseconds],
  ["operations", "valid for up to ", " more.", "proxy/src/gate/VisitorAuthCache.ts", "staleMillis", milliseconds],
  ["operations", "at most ", " unknown sessions", "proxy/src/gate/VisitorAuthCache.ts", "unknownPerMinute", count],
  ["operations", "time limits (", " for a statement", "server/src/store/Pooler.ts", "statementLimit", (n) => n],
  ["operations", ", ", " for an idle transaction", "server/src/store/Pooler.ts", "idleLimit", (n) => n],
  [
    "api",
    "the body is longer than ",
    ",",
    "domain/src/api/RequestReading.ts",
    "maxBodyBytes",
    (n) => `${Number(n) / 1024} KiB`
  ]
]

/** Quantities that repeat no constant: measured ones, defaults that the table of variables has, and the database's start. */
const others = [
  "each 64 KiB of its response",
  "heartbeat every 30 s",
  "request fails after 30 seconds",
  "after 300 seconds of silence",
  "nothing for 15 s after its handshake",
  "for 1 MiB or 5 s more",
  "which takes 0.3 s and 90 MB",
  "500 MB a second",
  "30 seconds at startup",
  "20.1 s through PgBouncer 1.18 in transaction mode and 16.1 s without"
]

const unit = String.raw`(?:s|ms|KiB|MiB|MB|seconds|minutes)\b`

describe("the numbers of the guides", () => {
  it.each(numbers)("%s: %s…%s is the constant of the code", (page, before, after, file, name, write) => {
    const text = page === "api" ? readFileSync(join(root, "docs/api.md"), "utf8") : proseOf(page)
    assert.include(text, `${before}${write(constantOf(file, name))}${after}`)
  })

  it.each(["edge", "agent", "operations", "api", "channels", "portal"])(
    "%s.md has no other quantity with a unit",
    (page) => {
      const held = numbers
        .filter(([of]) => of === page)
        .map(([, before, after, file, name, write]) => `${before}${write(constantOf(file, name))}${after}`)
      let rest = proseOf(page)
      for (const part of [...held, ...others]) rest = rest.replaceAll(part, "")
      assert.deepStrictEqual(rest.match(new RegExp(String.raw`.{0,30}\b\d[\d,.]* ${unit}.{0,20}`, "gu")) ?? [], [])
    }
  )
})
