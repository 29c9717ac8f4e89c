/**
 * The routes of channels.
 * One file, since it is one table, with a row for each answer of the routes.
 */
import { database, server } from "@catenet/testing/server/Accounts"
import { account } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, linkOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const ada = account("ada")
const bob = account("bob")
const channel = idOf("hall")
const other = idOf("attic")
const at = { channel }
const unknownChannel = { channel: idOf("unknown") }
const place = { channel, holder: keyOf("cam") }
const registration = { channel, operator_pubkey: keyOf("operator") }
const rekeyed = { channel, operator_pubkey: keyOf("successor") }

/** Not the owner and not registered: one answer. */
const others = (call: string, more: Partial<Row> = {}): ReadonlyArray<Row> => [
  row(call, "403 NotChannelOwner", { as: bob, at, ...more }),
  row(call, "403 NotChannelOwner", { as: ada, ...more, at: { ...more.at, ...unknownChannel } })
]

const malformed = (call: string, more: Partial<Row> = {}): Row =>
  row(call, "400 MalformedRequest", { as: ada, at: { channel: "hall" }, ...more })

const registry: ReadonlyArray<Row> = [
  row("list", 200, { as: ada, answer: { channels: [] } }),
  row("register", 200, { as: ada, body: registration }),
  row("register", 200, { as: ada, body: registration, because: "the same key is no change" }),
  row("register", "403 NotChannelOwner", { as: bob, body: registration }),
  row("register", "403 NotChannelOwner", { as: bob, body: { ...registration, confirm_rekey: true } }),
  row("register", "409 OperatorMismatch", { as: ada, body: rekeyed }),
  row("register", "409 OperatorMismatch", { as: ada, body: { ...rekeyed, confirm_rekey: false } }),
  row("register", 200, { as: ada, body: { ...rekeyed, confirm_rekey: true } }),
  row("register", 200, { as: ada, body: { ...registration, confirm_rekey: true } }),
  row("register", "400 MalformedRequest", { as: ada, body: { ...registration, channel: "é".repeat(64) } }),
  row("register", "422 WrongShape", { as: ada, body: { channel } }),
  row("register", "403 OperatorProofRefused", { as: ada, body: { ...registration, operator_proof: "0".repeat(128) } }),
  row("register", 200, { as: account("small"), body: { ...registration, channel: other } }),
  row("register", "403 ChannelLimitReached", {
    as: account("small"),
    body: { ...registration, channel: idOf("one more") }
  }),
  row("list", 200, { as: ada, answer: { channels: [channel] } }),
  row("get", 200, { as: ada, at, answer: { ...registration, members: 0 } }),
  ...others("get"),
  malformed("get")
]

const members: ReadonlyArray<Row> = [
  row("addMember", 200, { as: ada, at, body: materialOf(channel, "cam") }),
  row("addMember", 200, { as: ada, at, body: materialOf(channel, "cam", "again"), because: "it is replaced" }),
  row("addMember", "400 AttestationRefused", {
    as: ada,
    at,
    body: { ...materialOf(channel, "cam"), noise_pubkey: keyOf("somebody else's") }
  }),
  row("addMember", "400 AttestationRefused", {
    as: ada,
    at,
    body: materialOf(other, "cam"),
    because: "it was made for another channel"
  }),
  row("addMember", "400 AttestationRefused", {
    as: bob,
    at,
    body: materialOf(other, "cam"),
    because: "the attestation is looked at first"
  }),
  row("addMember", "403 NotChannelOwner", { as: bob, at, body: materialOf(channel, "cam") }),
  row("addMember", "403 NotChannelOwner", {
    as: ada,
    at: unknownChannel,
    body: materialOf(unknownChannel.channel, "cam")
  }),
  row("listMembers", 200, {
    as: ada,
    at,
    answer: { members: [{ holder: keyOf("cam"), noise_pubkey: materialOf(channel, "cam", "again").noise_pubkey }] }
  }),
  ...others("listMembers"),

  row("depositGrant", 200, { as: ada, at: place, body: { grant: grantBy("operator", channel, "cam") } }),
  row("depositGrant", 200, {
    as: ada,
    at: place,
    body: { grant: ` ${grantBy("operator", channel, "cam").toUpperCase()}\n` },
    because: "blanks and letter case do not count"
  }),
  row("depositGrant", "400 MalformedRequest", { as: ada, at: place, body: { grant: "ab" } }),
  row("depositGrant", "400 GrantUndecodable", { as: ada, at: place, body: { grant: "f".repeat(278) } }),
  row("depositGrant", "400 GrantMismatch", { as: ada, at: place, body: { grant: grantBy("operator", other, "cam") } }),
  row("depositGrant", "400 GrantMismatch", {
    as: bob,
    at: place,
    body: { grant: grantBy("operator", channel, "dog") },
    because: "the ids are looked at first"
  }),
  row("depositGrant", "403 NotChannelOwner", {
    as: bob,
    at: place,
    body: { grant: grantBy("operator", channel, "cam") }
  }),
  row("depositGrant", "404 MemberNotFound", {
    as: ada,
    at: { channel, holder: keyOf("dog") },
    body: { grant: grantBy("operator", channel, "dog") }
  }),
  row("listGrants", 200, {
    as: ada,
    at,
    answer: { grants: [{ holder: keyOf("cam"), grant: grantBy("operator", channel, "cam") }] }
  }),
  ...others("listGrants"),

  ...others("removeMember", { at: place }),
  row("removeMember", 200, { as: ada, at: place }),
  row("removeMember", 200, { as: ada, at: place, because: "one that is none is removed already" }),
  malformed("removeMember", { at: { channel, holder: "cam" } }),
  row("listGrants", 200, { as: ada, at, answer: { grants: [] }, because: "the grant goes with its member" })
]

const allowList: ReadonlyArray<Row> = [
  row("allow", 200, { as: ada, at, body: { email: "Cyd@People.Example" } }),
  row("allow", 200, { as: ada, at, body: { email: "cyd@people.example" } }),
  row("allow", "400 MalformedRequest", { as: ada, at, body: { email: "cyd" } }),
  ...others("allow", { body: { email: "cyd@people.example" } }),
  row("listAllowed", 200, { as: ada, at, answer: { emails: ["cyd@people.example"] } }),
  ...others("listAllowed"),
  ...others("disallow", { at: { channel, email: "cyd@people.example" } }),
  row("disallow", 200, { as: ada, at: { channel, email: "CYD@people.example" } }),
  row("disallow", 200, { as: ada, at: { channel, email: "cyd@people.example" } }),
  malformed("disallow", { at: { channel, email: "cyd" } }),
  row("listAllowed", 200, { as: ada, at, answer: { emails: [] } })
]

const key = { "idempotency-key": "once" }
const invites: ReadonlyArray<Row> = [
  row("mintClaimInvite", 200, { as: ada, at, body: { ...materialOf(channel, "cam"), label: " laptop " } }),
  row("mintClaimInvite", "404 ChannelNotFound", { as: bob, at, body: materialOf(channel, "cam") }),
  row("mintClaimInvite", "404 ChannelNotFound", {
    as: bob,
    at,
    body: "{",
    because: "ownership is decided before the body is looked at"
  }),
  row("mintClaimInvite", "404 ChannelNotFound", { as: ada, at: unknownChannel, body: {} }),
  row("mintJoinLink", 200, { as: ada, at, body: { secret: "sealed" } }),
  row("mintJoinLink", "422 WrongShape", { as: ada, at, body: { secret: "s".repeat(8193) } }),
  row("mintJoinLink", 200, { as: ada, at, body: { secret: "one" }, headers: key }),
  row("mintJoinLink", "409 IdempotencyKeyReused", { as: ada, at, body: { secret: "two" }, headers: key }),
  row("mintJoinLink", "403 NotChannelOwner", { as: bob, at, body: { secret: "sealed" } }),
  row("mintJoinLink", "403 NotChannelOwner", { as: ada, at: unknownChannel, body: { secret: "s" } }),
  row("mintClaimInvite", "400 AttestationRefused", { as: ada, at, body: materialOf(other, "cam") }),
  ...[" ", "two\nlines", "x".repeat(65)].map((label) =>
    row("mintClaimInvite", "400 MalformedRequest", { as: ada, at, body: { ...materialOf(channel, "cam"), label } })
  ),
  row("mintClaimInvite", "422 WrongShape", { as: ada, at, body: { holder: keyOf("cam") } }),
  row("mintClaimInvite", "413 BodyTooLarge", { as: ada, at, body: "x".repeat(2 * 1024 * 1024 + 1) }),
  row("mintClaimInvite", "415 UnsupportedMediaType", {
    as: ada,
    at,
    body: "holder=x",
    headers: { "content-type": "text/plain" }
  }),
  row("mintClaimInvite", 200, { as: ada, at, body: materialOf(channel, "dog"), headers: key }),
  row("mintClaimInvite", "409 IdempotencyKeyReused", { as: ada, at, body: materialOf(channel, "cam"), headers: key }),
  row("listClaimInvites", 200, { as: ada, at }),
  row("listClaimInvites", "404 ChannelNotFound", { as: bob, at }),
  row("listClaimInvites", "404 ChannelNotFound", { as: ada, at: unknownChannel })
]

const room = (...holders: ReadonlyArray<string>) => ({ operator_pubkey: keyOf("host"), holders: holders.map(keyOf) })
const pair = (a: string, b: string) => ({ a: keyOf(a), b: keyOf(b), channel: linkOf("host", a, b) })
const many = (count: number) => Array.from({ length: count }, (_, n) => `guest ${n}`)
const rooms: ReadonlyArray<Row> = [
  row("openRoom", 200, { as: ada, body: room("y", "x"), answer: { channels: [pair("y", "x")] } }),
  row("openRoom", 200, {
    as: ada,
    body: room("x", "y", "z"),
    answer: { channels: [pair("x", "y"), pair("x", "z"), pair("y", "z")] },
    because: "it is additive, and pairs are named in the order of the request"
  }),
  row("openRoom", "400 RoomSizeOutOfRange", { as: ada, body: room(...many(1)) }),
  row("openRoom", "400 RoomSizeOutOfRange", { as: ada, body: room(...many(13)) }),
  row("openRoom", 200, { as: account("host"), body: room(...many(12)), because: "66 pairs fit" }),
  row("openRoom", "400 HolderRepeated", { as: ada, body: room("x", "y", "x") }),
  row("openRoom", "400 MalformedRequest", { as: ada, body: { ...room("x"), holders: [keyOf("x"), "y"] } }),
  row("openRoom", "409 RoomPairTaken", { as: bob, body: room("w", "x", "y") }),
  row("openRoom", "403 OperatorProofRefused", {
    as: bob,
    body: { ...room("w", "x"), operator_proof: "0".repeat(128) }
  }),
  row("listRooms", 200, { as: bob, answer: { channels: [] }, because: "a refused room leaves nothing" }),
  row("list", 200, { as: bob, answer: { channels: [] } }),
  row("openRoom", "403 ChannelLimitReached", {
    as: account("small"),
    body: { ...room("v", "w"), operator_pubkey: keyOf("another host") }
  }),
  row("listRooms", 200, { as: ada })
]

const end: ReadonlyArray<Row> = [
  ...others("deregister"),
  malformed("deregister"),
  row("deregister", 200, { as: ada, at }),
  row("deregister", "403 NotChannelOwner", { as: ada, at }),
  row("register", 200, { as: bob, body: registration, because: "the channel is free again" }),
  row("listMembers", 200, { as: bob, at, answer: { members: [] } }),
  row("listAllowed", 200, { as: bob, at, answer: { emails: [] } }),
  row("listClaimInvites", 200, { as: bob, at, answer: { invites: [] } })
]

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the channel registry", (it) => {
  it.effect("answers as declared", () =>
    Effect.gen(function* () {
      yield* SqlClient.SqlClient.use(
        (sql) => sql`insert into account_limits ${sql.insert({ subject: "small", maxChannels: 1 })}`
      ).pipe(Effect.provide(database))
      yield* hold("channels", ada, [...registry, ...members, ...allowList, ...invites, ...rooms, ...end], {
        "register LinkOperatorDiffers": "held in TopologyAuthorizations.test.ts, with a topology that is bound"
      })
    })
  )
})
