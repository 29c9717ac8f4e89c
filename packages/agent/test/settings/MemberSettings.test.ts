/**
 * The variables of the channel commands, each on both sides of its rule.
 * One file, since it is one table, with a row for each variable.
 */
import * as Hex from "@catenet/crypto/Hex"
import { sentence } from "@catenet/platform/ConfigurationInvalid"
import { makeHome } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { makeChannel } from "@catenet/testing/agent/Member"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted, Result } from "effect"
import { writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { inspect } from "node:util"
import * as MemberSettings from "../../src/settings/MemberSettings.ts"
import { channel as variables } from "../../src/settings/Variables.ts"

type Raw = Readonly<Record<string, string>>

const parse = (raw: Raw) =>
  Effect.runPromise(
    Effect.result(MemberSettings.read(undefined)).pipe(
      Effect.map(Result.mapError(({ problems }) => problems.map(sentence))),
      Effect.provide(NodeFileSystem.layer),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown(raw, { preserveEmptyStrings: true })
      )
    )
  )

const channel = makeChannel()
const initiator = channel.member("initiate")
const acceptor = channel.member("accept")
const authority = makeAuthority()
const rootHex = Hex.encode(authority.der)
const key = "Ab".repeat(32)

const broker: Raw = {
  ...initiator.env,
  CT_CHANNEL_BROKER: "edge.example.net:4435",
  CT_CHANNEL_RELAY: "edge.example.net:4436",
  CT_CHANNEL_LISTEN: "0.0.0.0:7001",
  CT_CHANNEL_FRONT_DOOR: "edge.example.net:443",
  CT_CHANNEL_FRONT_DOOR_CERT: rootHex
}
const direct: Raw = {
  CT_CHANNEL_ROLE: "accept",
  CT_CHANNEL_ADDR: "192.0.2.1:7001",
  CT_CHANNEL_PEER_NOISE_KEY: key,
  CT_CHANNEL_NOISE_KEY: "cd".repeat(32)
}

const carded: Raw = { ...broker, CT_AGENT_CARD_ROLES: "worker" }
const offering: Raw = {
  ...broker,
  CT_AGENT_OFFER_KIND: "local",
  CT_AGENT_OFFER_MODELS: "m",
  CT_AGENT_OFFER_UNITS: "10",
  CT_AGENT_OFFER_MIN_PRICE: "5",
  CT_AGENT_OFFER_CURRENCY: "EUR"
}

const accepted = async (raw: Raw) => {
  const parsed = await parse(raw)
  if (Result.isFailure(parsed)) throw new Error(parsed.failure.join("\n"))
  return parsed.success
}
const problems = async (raw: Raw) =>
  Result.match(await parse(raw), { onSuccess: () => [] as ReadonlyArray<string>, onFailure: (all) => all })

const without = (raw: Raw, ...names: ReadonlyArray<string>): Raw =>
  Object.fromEntries(Object.entries(raw).filter(([name]) => !names.includes(name)))

const met = ({ meeting }: MemberSettings.MemberSettings) =>
  meeting._tag === "Broker" ? meeting : assert.fail("not by a broker")

interface Rule {
  readonly name: string
  readonly base?: Raw
  readonly good: ReadonlyArray<readonly [string, unknown]>
  readonly bad: ReadonlyArray<string>
  readonly read: (settings: MemberSettings.MemberSettings) => unknown
}

const place = (value: { readonly host: string; readonly port: number } | undefined) =>
  value === undefined ? undefined : `${value.host} ${value.port}`

const onlyWhen = (
  name: string,
  yes: ReadonlyArray<string>,
  no: ReadonlyArray<string>,
  read: Rule["read"],
  base = broker
): Rule => ({
  name,
  base,
  good: [...yes.map((text) => [text, true] as const), ...no.map((text) => [text, false] as const)],
  bad: [],
  read
})

const pem = (settings: MemberSettings.MemberSettings) => met(settings).root?.trim()

const rules: ReadonlyArray<Rule> = [
  {
    name: "CT_CHANNEL_ROLE",
    base: direct,
    good: [
      ["initiate", "initiate"],
      ["Initiator", "initiate"],
      [" ACCEPT ", "accept"],
      ["responder", "accept"],
      ["listen", "accept"]
    ],
    bad: ["", "both", "client"],
    read: ({ role }) => role
  },
  {
    name: "CT_CHANNEL_ADDR",
    base: direct,
    good: [
      ["127.0.0.1:7001", "127.0.0.1 7001"],
      ["[::1]:7001", "::1 7001"]
    ],
    bad: ["", "localhost:7001", "127.0.0.1", "127.0.0.1:65536"],
    read: ({ meeting }) => (meeting._tag === "Direct" ? place(meeting.address) : undefined)
  },
  {
    name: "CT_CHANNEL_PEER_NOISE_KEY",
    base: direct,
    good: [[` ${key} `, key.toLowerCase()]],
    bad: ["", "ab".repeat(31), `${"ab".repeat(31)}zz`, "ü".repeat(64)],
    read: ({ peerNoiseKey }) => peerNoiseKey && Hex.encode(peerNoiseKey)
  },
  {
    name: "CT_CHANNEL_BROKER",
    good: [
      ["192.0.2.1:4435", "192.0.2.1 4435"],
      ["edge.example.net:4435", "edge.example.net 4435"]
    ],
    bad: ["edge.example.net", "edge.example.net:0", "https://edge.example.net"],
    read: (settings) => place(met(settings).broker)
  },
  {
    name: "CT_CHANNEL_RELAY",
    good: [["[2001:db8::1]:4436", "2001:db8::1 4436"]],
    bad: ["", "4436", "edge.example.net:65536"],
    read: (settings) => place(met(settings).relay)
  },
  {
    name: "CT_CHANNEL_LISTEN",
    base: { ...broker, CT_CHANNEL_ADVERTISE: "203.0.113.7:7001" },
    good: [
      ["0.0.0.0:0", "0.0.0.0 0"],
      ["[::]:7001", ":: 7001"]
    ],
    bad: ["", "localhost:7001", "7001"],
    read: (settings) => place(met(settings).listen?.address)
  },
  {
    name: "CT_CHANNEL_ADVERTISE",
    good: [
      ["203.0.113.7:7001", "203.0.113.7:7001"],
      ["laptop.example.net:7001", "laptop.example.net:7001"],
      // Without one the listener's own address counts, and this one is not globally routable.
      ["", undefined],
      ["10.0.0.1:7001", undefined],
      ["172.16.0.1:7001", undefined],
      ["172.32.0.1:7001", "172.32.0.1:7001"],
      ["192.168.1.1:7001", undefined],
      ["169.254.1.1:7001", undefined],
      ["100.64.0.1:7001", undefined],
      ["127.0.0.1:7001", undefined],
      ["224.0.0.1:7001", undefined],
      ["[fc00::1]:7001", undefined],
      ["[fe80::1]:7001", undefined],
      ["[2001:db8::1]:7001", "[2001:db8::1]:7001"]
    ],
    bad: ["203.0.113.7", "203.0.113.7:0"],
    read: (settings) => met(settings).listen?.advertised
  },
  onlyWhen(
    "CT_CHANNEL_RELAY_ONLY",
    ["1"],
    ["", "0", "true", "yes", "01"],
    (settings) => met(settings).listen === undefined,
    { ...broker, CT_CHANNEL_ADVERTISE: "203.0.113.7:7001" }
  ),
  {
    name: "CT_CHANNEL_FRONT_DOOR",
    good: [
      ["edge.example.net:443", "edge.example.net 443"],
      ["", undefined]
    ],
    bad: ["edge.example.net", "edge.example.net:0"],
    read: (settings) => place(met(settings).frontDoor)
  },
  {
    name: "CT_CHANNEL_TRANSPORTS",
    base: broker,
    good: [
      ["quic", ["quic"]],
      ["quic, tls", ["quic", "tls"]],
      ["tls", ["tls"]]
    ],
    bad: ["udp", "tls,tls", "TLS", "quic,"],
    read: (settings) => met(settings).transports
  },
  {
    name: "CT_CHANNEL_WEBSOCKET",
    good: [
      ["wss://portal.example.net/ws/channel", "wss://portal.example.net/ws/channel"],
      ["ws://127.0.0.1:4437/ws/channel", "ws://127.0.0.1:4437/ws/channel"],
      ["", undefined]
    ],
    bad: ["ws://portal.example.net/ws/channel", "https://portal.example.net/ws/channel", "portal.example.net:443"],
    read: (settings) => met(settings).webSocket?.href
  },
  {
    name: "CT_CHANNEL_FRONT_DOOR_CERT",
    good: [
      [rootHex, authority.pem.trim()],
      [rootHex.toUpperCase(), authority.pem.trim()],
      [authority.pem, authority.pem.trim()],
      ["", undefined]
    ],
    bad: [
      rootHex.slice(0, -1),
      rootHex.slice(0, -2),
      `${rootHex}00`,
      `31${rootHex.slice(2)}`,
      `zz${rootHex.slice(2)}`,
      "3000",
      "3080",
      "30",
      "/no/such/file",
      "-----BEGIN CERTIFICATE-----"
    ],
    read: pem
  },
  onlyWhen(
    "CT_CHANNEL_FRONT_DOOR_ONLY",
    ["1", "true", "YES"],
    ["", "0", "on", "false"],
    (settings) => met(settings).isFrontDoorOnly
  ),
  {
    name: "CT_CHANNEL_RELAY_GATE",
    base: { ...broker, CT_CHANNEL_RELAY_ONLY: "1", CT_CHANNEL_RELAY_GATE_CERT: rootHex },
    good: [
      ["edge.example.net:443", "edge.example.net 443"],
      ["", undefined]
    ],
    bad: ["edge.example.net"],
    read: (settings) => place(met(settings).node?.address)
  },
  {
    name: "CT_CHANNEL_RELAY_GATE_CERT",
    base: { ...broker, CT_CHANNEL_RELAY_ONLY: "1", CT_CHANNEL_RELAY_GATE: "edge.example.net:443" },
    good: [[rootHex, authority.pem.trim()]],
    bad: ["", rootHex.slice(2)],
    read: (settings) => met(settings).node?.root?.trim()
  },
  {
    name: "CT_CHANNEL_CIRCUIT_RELAY",
    base: { ...broker, CT_CHANNEL_RELAY_ONLY: "1" },
    good: [
      ["/ip4/203.0.113.7/tcp/4440", "203.0.113.7 4440"],
      ["/ip6/2001:db8::7/tcp/4440", "2001:db8::7 4440"],
      ["/dns/relay.example.net/tcp/4440", "relay.example.net 4440"],
      ["", undefined],
      [" ", undefined]
    ],
    bad: [
      "relay",
      "/ip4/203.0.113.7/tcp/4001/p2p/QmRelay",
      "/ip4/203.0.113.7/udp/4001/quic-v1",
      "/ip4/relay.example.net/tcp/4001",
      "/ip4/203.0.113.7/tcp/0",
      "/ip4/203.0.113.7/tcp/65536"
    ],
    read: (settings) => place(met(settings).node?.address)
  },
  onlyWhen("CT_CHANNEL_DIRECT_UPGRADE", ["1", "True", "yes"], ["", "0", "on"], (settings) => met(settings).isUpgrading),
  {
    name: "CT_CHANNEL_POST_QUANTUM",
    good: [
      ["Require", "require"],
      ["prefer", "prefer"],
      ["off", "off"],
      ["", "prefer"]
    ],
    bad: ["on", "1", "required"],
    read: (settings) => met(settings).postQuantum
  },
  {
    name: "CT_CHANNEL_ID",
    good: [
      [Hex.encode(channel.channel), true],
      ["", true]
    ],
    bad: ["ab", key],
    read: (settings) => Hex.encode(met(settings).grant.channel) === Hex.encode(channel.channel)
  },
  {
    name: "CT_CHANNEL_GRANT",
    good: [
      [initiator.grant, "initiate"],
      [initiator.grant.toUpperCase(), "initiate"],
      [` ${initiator.grant} `, "initiate"]
    ],
    bad: [
      "",
      initiator.grant.slice(2),
      `${initiator.grant}00`,
      `zz${initiator.grant.slice(2)}`,
      acceptor.grant.slice(0, 277)
    ],
    read: (settings) => met(settings).grant.direction
  },
  {
    name: "CT_CHANNEL_HOLDER_KEY",
    good: [[Hex.encode(initiator.holderSeed).toUpperCase(), Hex.encode(initiator.holderSeed)]],
    bad: ["", "ab".repeat(31), "key"],
    read: (settings) => Hex.encode(Redacted.value(met(settings).holderKey))
  },
  {
    name: "CT_CHANNEL_NOISE_KEY",
    good: [[key, key.toLowerCase()]],
    bad: ["", `${key}00`, "key"],
    read: ({ noiseKey }) => Hex.encode(Redacted.value(noiseKey))
  },
  {
    name: "CT_CHANNEL_PEER_CERT",
    base: direct,
    good: [
      [rootHex, authority.pem.trim()],
      ["", undefined]
    ],
    bad: [rootHex.slice(2)],
    read: ({ meeting }) => (meeting._tag === "Direct" ? meeting.peerCertificate?.trim() : assert.fail())
  },
  onlyWhen(
    "CT_CHANNEL_SERVE",
    ["1", "true", "TRUE"],
    ["", "0", "yes", "on"],
    ({ sessionHandler }) => sessionHandler._tag === "Serve"
  ),
  {
    name: "CT_CHANNEL_SERVE_CONCURRENCY",
    good: [
      ["1", 1],
      ["65535", 65_535],
      ["0", 8],
      ["65536", 8],
      ["many", 8],
      ["-1", 8],
      ["", 8]
    ],
    bad: [],
    read: ({ serving }) => serving.concurrency
  },
  {
    name: "CT_AGENT_SERVICE_HANDLER_CMD",
    good: [
      ["cat", "cat"],
      ["", undefined]
    ],
    bad: [],
    read: ({ serving }) => serving.handlerCommand
  },
  {
    name: "CT_AGENT_SERVICES",
    good: [
      ["text_generation, Code_Generation,, My Tool", ["TextGeneration", "CodeGeneration", { Custom: "My Tool" }]],
      ["security_review,safety_check", ["SecurityReview", "SafetyCheck"]],
      ["", undefined]
    ],
    bad: [],
    read: ({ serving }) => serving.services
  },
  {
    name: "CT_AGENT_STREAM_HANDLER_CMD",
    base: { ...broker, CT_CHANNEL_SERVE: "1", CT_AGENT_STREAM_SERVICE: "tty" },
    good: [
      ["cat", { _tag: "StreamHandler", command: "cat", service: "tty" }],
      ["", { _tag: "Serve" }]
    ],
    bad: [],
    read: ({ sessionHandler }) => ({ ...sessionHandler })
  },
  {
    name: "CT_AGENT_STREAM_SERVICE",
    base: { ...broker, CT_CHANNEL_SERVE: "1", CT_AGENT_STREAM_HANDLER_CMD: "cat" },
    good: [
      ["Any label", "Any label"],
      ["", ""]
    ],
    bad: [],
    read: ({ sessionHandler }) => (sessionHandler._tag === "StreamHandler" ? sessionHandler.service : assert.fail())
  },
  {
    name: "CT_CHANNEL_BRIDGE_PEER",
    good: [
      [key, key.toLowerCase()],
      ["ab", undefined],
      ["", undefined]
    ],
    bad: [],
    read: ({ bridge }) => bridge.peer && Hex.encode(bridge.peer)
  },
  {
    name: "CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL",
    good: [
      ["1", true],
      ["0", true],
      ["", true]
    ],
    bad: [],
    read: ({ bridge }) => bridge.install.isDisabled
  },
  {
    name: "CT_AGENT_CP_URL",
    good: [
      ["https://portal.example.net/", "https://portal.example.net"],
      ["", undefined]
    ],
    bad: ["portal.example.net"],
    read: ({ bridge }) => bridge.controlPlane
  },
  {
    name: "CT_OIDC_TOKEN",
    good: [
      [" abc ", "abc"],
      ["", undefined]
    ],
    bad: [],
    read: ({ bridge }) => bridge.credential.token && Redacted.value(bridge.credential.token)
  },
  {
    name: "CT_OIDC_TOKEN_FILE",
    good: [["/nowhere/token", "/nowhere/token"]],
    bad: [],
    read: ({ bridge }) => bridge.credential.tokenFile
  },
  {
    name: "CT_AGENT_LOGIN_TOKEN_FILE",
    good: [
      ["/nowhere/login.json", "/nowhere/login.json"],
      ["", `${homedir()}/.ct-agent/oidc-token.json`]
    ],
    bad: [],
    read: ({ bridge }) => bridge.credential.stored
  },
  {
    name: "CT_CHANNEL_OPERATOR_KEY",
    good: [
      [key, true],
      ["", false]
    ],
    bad: ["ab", "zz".repeat(32)],
    read: ({ bridge }) => bridge.canIssueGrants
  },
  {
    name: "CT_MANIFEST_REGISTRY_URL",
    good: [
      ["http://127.0.0.1:1/", "http://127.0.0.1:1"],
      ["", undefined]
    ],
    bad: ["registry"],
    read: ({ bridge }) => bridge.registry
  },
  {
    name: "CT_MANIFEST_TRUST_ALLOWLIST",
    good: [
      [`${key}, ${"ab".repeat(32)}`, [key.toLowerCase(), "ab".repeat(32)]],
      ["", []]
    ],
    bad: ["ab", `${key},x`],
    read: ({ bridge }) => bridge.install.trusted.map(Hex.encode)
  },
  {
    name: "CT_MANIFEST_TRUST_ALLOWLIST_FILE",
    good: [
      ["/nowhere/publishers", "/nowhere/publishers"],
      ["", undefined]
    ],
    bad: [],
    read: ({ bridge }) => bridge.install.trustedFile
  },
  {
    name: "CT_MANIFEST_WORK_DIR",
    good: [
      ["services", "services"],
      ["", undefined]
    ],
    bad: [],
    read: ({ bridge }) => bridge.install.workDir
  },
  {
    name: "CT_AGENT_STATE_DIR",
    good: [
      ["state", "state"],
      ["", `${homedir()}/.ct-agent`]
    ],
    bad: [],
    read: ({ stateDir }) => stateDir
  },
  {
    name: "CT_AGENT_HANDLER_ENV",
    good: [
      ["API_KEY, OTHER", ["API_KEY", "OTHER"]],
      ["", []]
    ],
    bad: ["CT_CHANNEL_HOLDER_KEY", "API_KEY,ct_agent_token", "OTEL_EXPORTER_OTLP_HEADERS"],
    read: ({ serving }) => serving.passes
  },
  {
    name: "CT_AGENT_CARD_ROLES",
    good: [
      ["worker, seller", ["worker", "seller"]],
      ["", undefined]
    ],
    bad: [","],
    read: ({ serving }) => serving.card?.roleTags
  },
  {
    name: "CT_AGENT_CARD_SKILLS",
    base: carded,
    good: [
      [
        "a|First | of all; b ;;",
        [
          { id: "a", description: "First | of all", examples: [] },
          { id: "b", description: "", examples: [] }
        ]
      ],
      ["", []]
    ],
    bad: [],
    read: ({ serving }) => serving.card?.skills
  },
  ...(["CELLS", "CHANNELS"] as const).map((name) => ({
    name: `CT_AGENT_CARD_${name}`,
    base: carded,
    good: [
      [`${key},${key}`, 2],
      ["", 0]
    ] as const,
    bad: ["ab", `${key},x`],
    read: ({ serving }: MemberSettings.MemberSettings) =>
      (name === "CELLS" ? serving.card?.cells : serving.card?.channels)?.length
  })),
  {
    name: "CT_AGENT_CARD_TTL_SECS",
    base: carded,
    good: [
      ["1", 1],
      ["", 86_400]
    ],
    bad: ["0", "day"],
    read: ({ serving }) => serving.card?.ttlSecs
  },
  {
    name: "CT_AGENT_OFFER_KIND",
    base: offering,
    good: [
      ["cloud", "CloudApiQuota"],
      ["local", "LocalHardware"]
    ],
    bad: ["", "gpu"],
    read: ({ serving }) => serving.offer?.kind
  },
  {
    name: "CT_AGENT_OFFER_MODELS",
    base: offering,
    good: [["a, b", ["a", "b"]]],
    bad: ["", ","],
    read: ({ serving }) => serving.offer?.models
  },
  ...(["UNITS", "MIN_PRICE"] as const).map((name) => ({
    name: `CT_AGENT_OFFER_${name}`,
    base: offering,
    good: [
      ["0", 0n],
      ["18446744073709551615", 18_446_744_073_709_551_615n]
    ] as const,
    bad: ["", "-1", "1.5", "18446744073709551616"],
    read: ({ serving }: MemberSettings.MemberSettings) =>
      name === "UNITS" ? serving.offer?.unitsAvailable : serving.offer?.minPrice
  })),
  {
    name: "CT_AGENT_OFFER_CURRENCY",
    base: offering,
    good: [["EUR", "EUR"]],
    bad: [""],
    read: ({ serving }) => serving.offer?.currencyId
  },
  {
    name: "CT_AGENT_OFFER_TTL_SECS",
    base: offering,
    good: [
      ["1", 1],
      ["", 86_400]
    ],
    bad: ["0", "day"],
    read: ({ serving }) => serving.offer?.ttlSecs
  },
  {
    name: "CT_AGENT_OFFER_SERVICES",
    base: offering,
    good: [
      ["text_generation,,Mine", ["TextGeneration", { Custom: "Mine" }]],
      ["", []]
    ],
    bad: [],
    read: ({ serving }) => serving.offer?.services
  },
  ...(["MAX_BIDS", "WINDOW_SECS"] as const).map((name) => ({
    name: `CT_AGENT_OFFER_${name}`,
    base: offering,
    good: [
      ["0", 0],
      ["1", 1],
      ["", 60]
    ] as const,
    bad: ["-1", "many"],
    read: ({ serving }: MemberSettings.MemberSettings) =>
      name === "MAX_BIDS" ? serving.offer?.limit.bids : serving.offer?.limit.window
  })),
  {
    name: "CT_CHANNEL_CALL_SERVICE",
    good: [
      ["text_generation", { _tag: "CallService", service: "text_generation" }],
      ["", { _tag: "Pipe" }]
    ],
    bad: [],
    read: ({ sessionHandler }) => ({ ...sessionHandler })
  },
  {
    name: "CT_CHANNEL_CALL",
    good: [
      ["tools/list", { _tag: "Call", method: "tools/list", params: undefined }],
      ["", { _tag: "Pipe" }]
    ],
    bad: [],
    read: ({ sessionHandler }) => ({ ...sessionHandler })
  },
  {
    name: "CT_CHANNEL_CALL_PARAMS",
    base: { ...broker, CT_CHANNEL_CALL: "tools/call" },
    good: [
      [`[1]`, [1n]],
      ["null", null],
      ["", undefined]
    ],
    bad: ["{", "name", `{"a":1}x`],
    read: ({ sessionHandler }) => (sessionHandler._tag === "Call" ? sessionHandler.params : assert.fail())
  }
]

describe("channel settings", () => {
  for (const { bad, base = broker, good, name, read } of rules)
    it(`${name} accepts and refuses as documented`, async () => {
      for (const [value, expected] of good)
        assert.deepStrictEqual(read(await accepted({ ...base, [name]: value })), expected, JSON.stringify(value))
      for (const value of bad) {
        const said = await problems({ ...base, [name]: value })
        assert.strictEqual(said.length, 1, `${JSON.stringify(value)}: ${said.join(" ")}`)
        assert.match(said[0] ?? "", new RegExp(`^${name} .*\\.$`))
      }
    })

  it("are all in the table above", () => {
    const ofEveryCommand = ["CT_AGENT_METRICS_LISTEN"]
    const names = Object.values(variables).map(({ name }) => name)
    assert.sameMembers([...rules.map(({ name }) => name), ...ofEveryCommand], names)
  })

  it("refuse a broker without what it needs, each with the next step", async () => {
    const bare = { CT_CHANNEL_ROLE: "accept", CT_CHANNEL_BROKER: "192.0.2.1:4435", CT_CHANNEL_NOISE_KEY: key }
    const said = (await problems(bare)).join("\n")
    for (const name of ["RELAY", "GRANT", "HOLDER_KEY", "LISTEN"])
      assert.include(said, `CT_CHANNEL_${name} is not set; set it`)
    assert.deepStrictEqual(await problems({ ...without(broker, "CT_CHANNEL_LISTEN"), CT_CHANNEL_RELAY_ONLY: "1" }), [])
  })

  it("refuse direct mode without the peer's key", async () => {
    assert.include((await problems(without(direct, "CT_CHANNEL_PEER_NOISE_KEY"))).join(), "it proves who the peer is")
    assert.deepStrictEqual(await problems({ ...direct, CT_CHANNEL_GRANT: "" }), [])
  })

  it("refuse the front door alone without its address or its root, and a gate without its root or with a listener", async () => {
    const only = { ...broker, CT_CHANNEL_FRONT_DOOR_ONLY: "1" }
    assert.match((await problems(without(only, "CT_CHANNEL_FRONT_DOOR"))).join(), /^CT_CHANNEL_FRONT_DOOR is not set/)
    assert.match(
      (await problems(without(only, "CT_CHANNEL_FRONT_DOOR_CERT"))).join(),
      /^CT_CHANNEL_FRONT_DOOR_CERT is not set/
    )
    const gate = { ...broker, CT_CHANNEL_RELAY_GATE: "edge.example.net:443" }
    assert.match((await problems(gate)).join("\n"), /CT_CHANNEL_RELAY_GATE_CERT is not set/)
    assert.match(
      (await problems({ ...gate, CT_CHANNEL_RELAY_GATE_CERT: rootHex })).join(),
      /CT_CHANNEL_RELAY_ONLY=1 only/
    )
  })

  it("refuse a grant of another holder or direction, or an expired one, before the network is asked", async () => {
    const refused = async (raw: Raw) => {
      const [first = "", ...more] = await problems({ ...broker, ...raw })
      assert.deepStrictEqual(more, [])
      assert.match(first, /^CT_CHANNEL_GRANT /)
      return first
    }
    assert.include(await refused({ CT_CHANNEL_HOLDER_KEY: key }), "set the key that belongs to the grant")
    assert.include(await refused({ CT_CHANNEL_ROLE: "accept" }), "set CT_CHANNEL_ROLE=initiate")
    const old = channel.member("initiate", { expiresAt: 1n })
    assert.include(await refused(old.env), "has expired; ask the operator")
    const both = channel.member("both")
    for (const role of ["initiate", "accept"])
      assert.deepStrictEqual(await problems({ ...broker, ...both.env, CT_CHANNEL_ROLE: role }), [])
  })

  it("say of a certificate what is wrong with it", async () => {
    const said = async (value: string) => (await problems({ ...broker, CT_CHANNEL_FRONT_DOOR_CERT: value })).join()
    assert.include(await said(rootHex.slice(1)), "odd count")
    assert.include(await said(`zz${rootHex.slice(2)}`), "no hex digit")
    assert.include(await said(rootHex.slice(0, -4)), "2 bytes are missing")
    assert.include(await said(`${rootHex}00`), "1 bytes behind its end")
  })

  it("take a certificate from a file in each of its forms", async () => {
    await using home = await makeHome()
    for (const content of [authority.pem, rootHex, authority.der]) {
      await writeFile(`${home.path}/root`, content)
      const settings = await accepted({ ...broker, CT_CHANNEL_FRONT_DOOR_CERT: `${home.path}/root` })
      assert.strictEqual(pem(settings), authority.pem.trim())
    }
  })

  it("never repeat a secret in a refusal", async () => {
    const raw = {
      ...broker,
      CT_CHANNEL_GRANT: `${initiator.grant.slice(0, -2)}zz`,
      CT_CHANNEL_HOLDER_KEY: `${"5e".repeat(31)}zz`,
      CT_CHANNEL_NOISE_KEY: `${"6f".repeat(31)}zz`
    }
    const said = (await problems(raw)).join("\n")
    assert.include(said, "CT_CHANNEL_HOLDER_KEY")
    for (const part of ["5e5e5e", "6f6f6f", initiator.grant.slice(20, 40)]) assert.notInclude(said, part)
  })

  it("choose the local side in the contract's order", async () => {
    const all = { ...broker, CT_AGENT_STREAM_HANDLER_CMD: "cat" }
    const side = async (raw: Raw) => (await accepted({ ...all, ...raw })).sessionHandler._tag
    assert.strictEqual(await side({}), "Pipe")
    assert.strictEqual(await side({ CT_CHANNEL_SERVE: "1" }), "StreamHandler")
    assert.strictEqual(await side({ CT_CHANNEL_CALL: "tools/list" }), "Call")
    assert.strictEqual(await side({ CT_CHANNEL_CALL_SERVICE: "a" }), "CallService")
    // The first that matches, as the reference does.
    assert.strictEqual(await side({ CT_CHANNEL_CALL: "a", CT_CHANNEL_CALL_SERVICE: "b" }), "CallService")
    assert.include((await problems({ ...all, CT_CHANNEL_CALL: "a", CT_CHANNEL_SERVE: "1" })).join(), "unset one")
  })

  it("warn of what is legal but probably not meant", async () => {
    const warnings = async (raw: Raw) => (await accepted({ ...broker, ...raw })).warnings
    assert.deepStrictEqual(await warnings({}), [])
    for (const name of ["RELAY_ONLY", "FRONT_DOOR_ONLY", "DIRECT_UPGRADE", "SERVE"]) {
      assert.include((await warnings({ [`CT_CHANNEL_${name}`]: "ja" })).join(), "counts as no")
      assert.deepStrictEqual(await warnings({ [`CT_CHANNEL_${name}`]: "off" }), [])
    }
    assert.include((await warnings({ CT_CHANNEL_FRONT_DOOR_CERT: "" })).join(), "is not checked")
    assert.include((await warnings({ CT_CHANNEL_FRONT_DOOR: "" })).join(), "only broker and relay")
    assert.include((await warnings({ CT_CHANNEL_BRIDGE_PEER: "ab" })).join(), "not offered")
    assert.include((await warnings({ CT_AGENT_SERVICES: "a" })).join(), "CT_AGENT_SERVICE_HANDLER_CMD")
  })

  it("say each one that has no effect, once", async () => {
    const bases = { broker, "relay only": { ...broker, CT_CHANNEL_LISTEN: "", CT_CHANNEL_RELAY_ONLY: "1" }, direct }
    const shown = async (raw: Raw) => {
      const parsed = await parse(raw)
      if (Result.isFailure(parsed)) return undefined
      const { warnings, ...settings } = parsed.success
      return { warnings, settings: inspect(settings, { depth: 9 }) }
    }
    // The id is compared with the grant's; the terms of a card or an offer count when there is one.
    const isCompared = /^CT_CHANNEL_ID$|^CT_AGENT_(?:CARD|OFFER)_/
    const silent: Array<string> = []
    for (const [mode, base] of Object.entries(bases))
      for (const { base: own = {}, good, name } of rules) {
        if (isCompared.test(name)) continue
        const [value = ""] = good.find(([, expected]) => expected !== undefined && expected !== false) ?? []
        const others = base === direct ? {} : without(own, ...Object.keys(broker), "CT_CHANNEL_ADDR")
        const before = await shown(without({ ...base, ...others }, name))
        const after = await shown({ ...base, ...others, [name]: value })
        if (after === undefined || before?.settings !== after.settings) continue
        const said = after.warnings.filter((warning) => warning.startsWith(`${name} has no effect`))
        if (said.length !== 1) silent.push(`${name}=${value} with ${mode}`)
      }
    assert.deepStrictEqual(silent, [])
  })

  it("say nothing of those that have an effect", async () => {
    const { warnings } = await accepted({
      ...broker,
      CT_CHANNEL_SERVE: "1",
      CT_CHANNEL_BRIDGE_PEER: key,
      CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL: "1",
      CT_MANIFEST_WORK_DIR: "services",
      CT_MANIFEST_TRUST_ALLOWLIST: key
    })
    assert.deepStrictEqual(warnings, [])
  })
})
