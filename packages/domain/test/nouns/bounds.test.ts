/** Where each noun ends: its words, its bounds, what it fills in, how it refuses, and how a secret prints. */
import * as Directory from "@catenet/domain/agents/Directory"
import * as Matching from "@catenet/domain/agents/Matching"
import * as Pipeline from "@catenet/domain/agents/Pipeline"
import { DeleteConfirmation } from "@catenet/domain/api/AccountsApi"
import * as CreditErrors from "@catenet/domain/billing/CreditErrors"
import * as Channel from "@catenet/domain/channels/Channel"
import * as Claim from "@catenet/domain/channels/Claim"
import * as ClaimInvite from "@catenet/domain/channels/ClaimInvite"
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import * as EdgeNode from "@catenet/domain/edges/EdgeNode"
import { Tier } from "@catenet/domain/edges/EdgeNode"
import * as Agent from "@catenet/domain/enrollment/AgentStatus"
import * as AgentStatus from "@catenet/domain/enrollment/AgentStatus"
import * as ServiceAccount from "@catenet/domain/identity/ServiceAccount"
import * as Topology from "@catenet/domain/topologies/Topology"
import * as Alert from "@catenet/domain/tunnels/Alert"
import * as AlertFormat from "@catenet/domain/tunnels/AlertFormat"
import * as GateErrors from "@catenet/domain/tunnels/GateErrors"
import * as Receipt from "@catenet/domain/tunnels/Receipt"
import * as ShareLink from "@catenet/domain/tunnels/ShareLink"
import * as Tunnel from "@catenet/domain/tunnels/Tunnel"
import * as TunnelErrors from "@catenet/domain/tunnels/TunnelErrors"
import { Percent } from "@catenet/domain/tunnels/TunnelTraffic"
import { Email } from "@catenet/domain/values/Email"
import * as Hex from "@catenet/domain/values/Hex"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import * as Numbers from "@catenet/domain/values/Numbers"
import * as Text from "@catenet/domain/values/Text"
import * as Tokens from "@catenet/domain/values/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

type Noun = Schema.Codec<unknown>
const accepts = (noun: Noun, input: unknown) => Result.isSuccess(Schema.decodeUnknownResult(noun)(input))
const x = (length: number) => "x".repeat(length)
const slot = { day: 0, start_minute: 0, end_minute: 1 }
const role = { service: "SafetyCheck", units: 1, tag: "a" }

/** Words, all of them, in order. */
const words: ReadonlyArray<readonly [Noun, string]> = [
  [DeleteConfirmation, "DELETE"],
  [Tunnel.TunnelStatus, "rot gelb gruen"],
  [Tier, "gelb passthrough"],
  [AgentStatus.AgentTransport, "quic tcp-fallback masque none"],
  [AgentStatus.CredentialState, "env stored stored-expired-refreshable stored-expired none"],
  [Alert.AlertEvent, "tunnel.down tunnel.up tunnel.test"],
  [AlertFormat.AlertFormat, "signed slack discord matrix ntfy"],
  [Alert.Alert.fields.state, "unknown up down"],
  [Alert.AlertDelivery.fields.status, "ok failed skipped"],
  [Matching.CapacityKind, "CloudApiQuota LocalHardware"],
  [Claim.ClaimState, "Pending Claimed"],
  [ClaimInvite.ClaimInvite.fields.state, "open used expired"],
  [Pipeline.Service, "CodeGeneration SecurityReview SafetyCheck TextGeneration"],
  [Pipeline.SelectionPolicy, "LowestFloor RoundRobin LeastCalls"],
  [Receipt.ReceiptKey.fields.alg, "ed25519"],
  [ShareLink.ShareTtl, "1h 24h 7d"],
  [ShareLink.ShareLink.fields.state, "active opened used expired revoked"],
  [Topology.AgentKind, "peer super-peer"],
  [Topology.OverlayMode, "baseline smart-route shortcut random-mesh"],
  [Tunnel.BridgeMode, "off ephemeral permanent"]
]

/** The last values that are accepted, and the first that are not. */
const bounds: ReadonlyArray<readonly [string, Noun, ReadonlyArray<unknown>, ReadonlyArray<unknown>]> = [
  [
    "day",
    AccessPolicy.AccessSlot,
    [slot, { ...slot, day: 6 }],
    [
      { ...slot, day: -1 },
      { ...slot, day: 7 }
    ]
  ],
  [
    "slot",
    AccessPolicy.AccessSlot,
    [{ ...slot, start_minute: 1439, end_minute: 1440 }],
    [
      { ...slot, start_minute: -1 },
      { ...slot, end_minute: 0 },
      { ...slot, start_minute: 1, end_minute: 1 },
      { ...slot, start_minute: 1439, end_minute: 1441 },
      { ...slot, start_minute: 1440, end_minute: 1441 }
    ]
  ],
  [
    "schedule",
    AccessPolicy.WeeklySchedule,
    [-720, 840].map((tz_offset_minutes) => ({ tz_offset_minutes, slots: Array.from({ length: 64 }, () => slot) })),
    [
      { tz_offset_minutes: -721, slots: [] },
      { tz_offset_minutes: 841, slots: [] },
      { tz_offset_minutes: 0, slots: Array.from({ length: 65 }, () => slot) }
    ]
  ],
  ["agent id", Agent.AgentId, ["x", x(255)], ["", x(256)]],
  ["tenant", Agent.Tenant, ["x", x(255)], ["", x(256)]],
  ["subject", Subject, ["x", x(255)], ["", x(256)]],
  ["peer address", EdgeNode.PeerAddress, ["x", x(255)], ["", x(256)]],
  ["edge id", EdgeNode.EdgeId, ["x", x(64), "A.z_0-9"], ["", x(65), "a b", "é"]],
  ["session", AgentStatus.AgentStatus.fields.session, ["0123456789abcdef"], ["0123456789abcde", "0123456789ABCDEF"]],
  ["invite label", ClaimInvite.InviteLabel, ["x", x(64)], ["", x(65)]],
  [
    "card URL",
    Directory.CardUrl,
    ["https://a.example/card", `https://a.example/${x(2030)}`],
    ["http://a.example/", "https://", `https://a.example/${x(2031)}`, "//https://"]
  ],
  ["directory token", Directory.DirectoryToken, ["x", x(128)], ["", x(129)]],
  [
    "directory tokens",
    Directory.DirectoryEntry.fields.role_tags,
    [[], Array.from({ length: 64 }, () => "x")],
    [Array.from({ length: 65 }, () => "x")]
  ],
  ["pipeline id", Pipeline.PipelineId, ["x", x(128), "A.z_0-9"], ["", x(129), "a b"]],
  ["service name", Pipeline.Service, [{ Custom: x(128) }], [{ Custom: x(129) }, { Custom: "" }]],
  ["role tag", Pipeline.RoleTag, ["x", x(128)], ["", x(129)]],
  [
    "roles",
    Pipeline.PipelineSpec,
    [1, 64].map((length) => ({ id: "p", roles: Array.from({ length }, () => role) })),
    [0, 65].map((length) => ({ id: "p", roles: Array.from({ length }, () => role) }))
  ],
  ["receipt number", Receipt.Receipt.fields.seq, [1], [0]],
  ["receipt payload", Receipt.Receipt.fields.payload, [{ a: 1, "": "b" }], [{ a: 1.5 }, { a: null }, []]],
  ["client id", ServiceAccount.ClientId, [`sa-${"0f".repeat(16)}`], [`sa-${"0F".repeat(16)}`, "0f".repeat(16)]],
  ["service account name", ServiceAccount.ServiceAccountName, ["x", x(200)], ["", x(201)]],
  ["share label", ShareLink.ShareLabel, ["x", x(60)], ["", x(61)]],
  ["tunnel name", Tunnel.TunnelName, ["x", x(60)], ["", x(61)]],
  ["agent label", Topology.AgentLabel, ["x", x(60)], ["", x(61)]],
  ["percent", Percent, [0, 100, 99.5], [-0.1, 100.1]],
  ["port", Numbers.Port, [1, 65_535], [0, 65_536]],
  ["count", Numbers.Count, [0, Number.MAX_SAFE_INTEGER], [-1, 0.5]],
  [
    "count in text",
    Numbers.CountFromText,
    ["0", "9007199254740991"],
    ["", "-1", "+1", "01", "1.5", " 1", "9007199254740992"]
  ],
  ["bounded count in text", Numbers.countFromText(2, 4), ["2", "4"], ["1", "5"]],
  ["64-bit number", Numbers.Uint64, [0, 2n ** 64n - 1n, 7n], [-1, -1n, 2n ** 64n, 2 ** 53, 0.5, "1", null]],
  ["bootstrap secret", Tokens.BootstrapSecret, ["", x(8192)], [x(8193)]],
  ["share token", Tokens.ShareToken, [x(43), `-_${x(41)}`], [x(42), x(44), `+${x(42)}`]],
  ["claim invite token", Tokens.ClaimInviteToken, [x(43)], [x(42), x(44)]],
  ["line", Text.line(4, 2), ["ab", "abcd"], ["a", "abcde", "a\u0085"]],
  ["label of two", Text.label(2), ["a", "ab"], ["", "abc"]],
  ["e-mail", Email, [`${x(250)}@b.c`], [`${x(251)}@b.c`]]
]

describe("a noun", () => {
  for (const [noun, listed] of words) {
    it(`has the words ${listed}`, () => {
      for (const word of listed.split(" ")) assert.isTrue(accepts(noun, word), word)
      assert.isFalse(accepts(noun, ""))
    })
  }
  for (const [name, noun, good, bad] of bounds) {
    it(`is bounded: ${name}`, () => {
      for (const input of good) assert.isTrue(accepts(noun, input), String(JSON.stringify(input, text)).slice(0, 80))
      for (const input of bad) assert.isFalse(accepts(noun, input), String(JSON.stringify(input, text)).slice(0, 80))
    })
  }
})

const text = (_key: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value)

describe("what is left out", () => {
  const key = "ab".repeat(32)
  const signature = "cd".repeat(64)
  const filled = (noun: Noun, input: object) => Schema.decodeUnknownSync(noun)(input) as object
  it("is filled in", () => {
    assert.deepInclude(filled(AccessPolicy.AccessPolicy, {}), { expires_at: null, schedule: null })
    assert.deepInclude(filled(Pipeline.Role, role), { selection_policy: null })
    const spec = { id: "p", roles: [role] }
    assert.deepInclude(filled(Pipeline.PipelineSpec, spec), {
      operator_pubkey_hex: null,
      selection_policy: "LowestFloor"
    })
    assert.deepInclude(filled(Topology.SuggestRequest, {}), { links: [], shortcut_budget: 0 })
    const registration = { holder_pubkey: key, card_url: "https://a.example/" }
    assert.deepInclude(filled(Directory.DirectoryRegistration, registration), {
      role_tags: [],
      skill_ids: []
    })
    const authorization = { token: key, hostname: null }
    assert.deepInclude(filled(EdgeNode.Authorisation, authorization), {
      tier: "passthrough",
      policy: null
    })
    const times = { issued_at: 1, expires_at: 2, signature }
    const offer = { holder_pubkey: key, models: [], units_available: 1, min_price: 1, currency_id: "" }
    assert.deepInclude(filled(Matching.Offer, { ...offer, ...times, kind: "LocalHardware" }), {
      services: []
    })
    const bid = { bidder: key, model: "", units: 1, total_price: 1, terms_ack: key, kind: "LocalHardware" }
    assert.deepInclude(filled(Matching.Bid, { ...bid, ...times }), { service: null })
    const ids = { id: "0".repeat(32), net_uuid: "1".repeat(32), owner: "o" }
    const topology = { ...ids, agents: [], edges: [], overlay_mode: "baseline" }
    assert.deepInclude(filled(Topology.Topology, topology), { labels: [] })
  })
})

it("a receipt's payload keeps every key, so that what was hashed can be hashed again", () => {
  const payload = { a: 1, "ü B": "x", "": 2 }
  assert.deepStrictEqual(Schema.decodeUnknownSync(Receipt.Receipt.fields.payload)(payload), payload)
})

it("the limits are those of the contract", () => {
  assert.strictEqual(CreditErrors.tokenPrice, 1)
  assert.deepStrictEqual([Alert.maxThresholdMinutes, TunnelErrors.deliveryBudget], [10_080, 20])
  assert.deepStrictEqual([Channel.claimInviteSeconds, ServiceAccount.maxServiceAccounts], [900, 50])
  assert.deepStrictEqual([GateErrors.maxShareLinks, Topology.maxSuggestBudget, Topology.maxSuggestAgents], [50, 16, 64])
  assert.strictEqual(Numbers.maxUint64, 18_446_744_073_709_551_615n)
})

/** How a malformed text is refused: "Expected ..." */
const sentences: ReadonlyArray<readonly [Noun, unknown, string]> = [
  [Hex.Hex64, "", "64 hex digits"],
  [Schema.toType(Hex.Hex64), "AB".repeat(32), "64 lower-case hex digits"],
  [Email, "", "an e-mail address"],
  [Hostname, "", "a host name"],
  [Hostname, Array.from({ length: 127 }, () => "aa").join("."), "a host name of at most 253 characters"],
  [EdgeNode.EdgeId, "", "1 to 64 of letters, digits, dot, underscore and hyphen"],
  [Pipeline.PipelineId, "", "1 to 128 of letters, digits, dot, underscore and hyphen"],
  [Directory.CardUrl, "", "an https:// URL of at most 2048 characters"],
  [ServiceAccount.ClientId, "", "sa- and 32 hex digits"],
  [AgentStatus.AgentStatus.fields.session, "", "16 hex digits"],
  [Numbers.CountFromText, "", "a whole number"],
  [Numbers.Uint64, "", "an unsigned 64-bit integer"],
  [Tokens.ShareToken, "", "43 characters of base64url"],
  [ShareLink.ShareTtl, "", "one of 1h, 24h, 7d"],
  [Text.line(4), "", "1 to 4 characters without control characters"],
  [Text.label(4), "", "1 to 4 characters without control characters"],
  [AccessPolicy.AccessSlot, { ...slot, end_minute: 1, start_minute: 1 }, "a slot that ends after it starts"]
]

describe("a refusal of a value", () => {
  for (const [noun, input, expected] of sentences) {
    it(`says: Expected ${expected}`, () => {
      const refused = Schema.decodeUnknownResult(noun)(input)
      assert.isTrue(Result.isFailure(refused))
      if (Result.isFailure(refused))
        assert.match(refused.failure.message, new RegExp(`^Expected ${expected}(?:$|\n|,)`, "u"))
    })
  }
})

it("a secret prints as what it is", () => {
  const key = "ab".repeat(32)
  const printed = [
    [Tokens.RoutingToken, key, "routing token"],
    [Tokens.JoinToken, key, "join token"],
    [Tokens.BootstrapToken, key, "bootstrap token"],
    [Tokens.AdminToken, key, "admin token"],
    [Tokens.AlertSecret, key, "alert secret"],
    [Tokens.BootstrapSecret, key, "bootstrap secret"],
    [Tokens.ClientSecret, key, "client secret"],
    [Tokens.ShareToken, key.slice(21), "share token"],
    [Tokens.ClaimInviteToken, key.slice(21), "claim invite"]
  ] as const
  for (const [noun, input, label] of printed) {
    assert.strictEqual(String(Schema.decodeUnknownSync(noun as Noun)(input)), `<redacted:${label}>`)
  }
})
