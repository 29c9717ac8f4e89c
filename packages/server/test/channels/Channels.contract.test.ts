/**
 * The routes of channels.
 * One file, since it is one table, with a row for each answer of the routes.
 */
import { database, server } from "@catenet/testing/server/Accounts"
import { account } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, linkOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as Contract from "@catenet/testing/server/Contract"
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
const others = (call: string, more: Partial<Contract.Row> = {}): ReadonlyArray<Contract.Row> => [
  { call, as: bob, at, ...more, status: 403, code: "NotChannelOwner" },
  { call, as: ada, ...more, at: { ...more.at, ...unknownChannel }, status: 403, code: "NotChannelOwner" }
]

const malformed = (call: string, more: Partial<Contract.Row> = {}): Contract.Row => ({
  call,
  as: ada,
  at: { channel: "hall" },
  ...more,
  status: 400,
  code: "MalformedRequest"
})

const registry: ReadonlyArray<Contract.Row> = [
  { call: "list", as: ada, status: 200, answer: { channels: [] } },
  { call: "register", as: ada, body: registration, status: 200 },
  { call: "register", as: ada, body: registration, status: 200, because: "the same key is no change" },
  { call: "register", as: bob, body: registration, status: 403, code: "NotChannelOwner" },
  { call: "register", as: bob, body: { ...registration, confirm_rekey: true }, status: 403, code: "NotChannelOwner" },
  { call: "register", as: ada, body: rekeyed, status: 409, code: "OperatorMismatch" },
  { call: "register", as: ada, body: { ...rekeyed, confirm_rekey: false }, status: 409, code: "OperatorMismatch" },
  { call: "register", as: ada, body: { ...rekeyed, confirm_rekey: true }, status: 200 },
  { call: "register", as: ada, body: { ...registration, confirm_rekey: true }, status: 200 },
  {
    call: "register",
    as: ada,
    body: { ...registration, channel: "é".repeat(64) },
    status: 400,
    code: "MalformedRequest"
  },
  { call: "register", as: ada, body: { channel }, status: 422, code: "WrongShape" },
  {
    call: "register",
    as: ada,
    body: { ...registration, operator_proof: "0".repeat(128) },
    status: 403,
    code: "OperatorProofRefused"
  },
  { call: "register", as: account("small"), body: { ...registration, channel: other }, status: 200 },
  {
    call: "register",
    as: account("small"),
    body: { ...registration, channel: idOf("one more") },
    status: 403,
    code: "ChannelLimitReached"
  },
  { call: "list", as: ada, status: 200, answer: { channels: [channel] } },
  { call: "get", as: ada, at, status: 200, answer: { ...registration, members: 0 } },
  ...others("get"),
  malformed("get")
]

const members: ReadonlyArray<Contract.Row> = [
  { call: "addMember", as: ada, at, body: materialOf(channel, "cam"), status: 200 },
  { call: "addMember", as: ada, at, body: materialOf(channel, "cam", "again"), status: 200, because: "it is replaced" },
  {
    call: "addMember",
    as: ada,
    at,
    body: { ...materialOf(channel, "cam"), noise_pubkey: keyOf("somebody else's") },
    status: 400,
    code: "AttestationRefused"
  },
  {
    call: "addMember",
    as: ada,
    at,
    body: materialOf(other, "cam"),
    status: 400,
    code: "AttestationRefused",
    because: "it was made for another channel"
  },
  {
    call: "addMember",
    as: bob,
    at,
    body: materialOf(other, "cam"),
    status: 400,
    code: "AttestationRefused",
    because: "the attestation is looked at first"
  },
  { call: "addMember", as: bob, at, body: materialOf(channel, "cam"), status: 403, code: "NotChannelOwner" },
  {
    call: "addMember",
    as: ada,
    at: unknownChannel,
    body: materialOf(unknownChannel.channel, "cam"),
    status: 403,
    code: "NotChannelOwner"
  },
  {
    call: "listMembers",
    as: ada,
    at,
    status: 200,
    answer: { members: [{ holder: keyOf("cam"), noise_pubkey: materialOf(channel, "cam", "again").noise_pubkey }] }
  },
  ...others("listMembers"),

  { call: "depositGrant", as: ada, at: place, body: { grant: grantBy("operator", channel, "cam") }, status: 200 },
  {
    call: "depositGrant",
    as: ada,
    at: place,
    body: { grant: ` ${grantBy("operator", channel, "cam").toUpperCase()}\n` },
    status: 200,
    because: "blanks and letter case do not count"
  },
  { call: "depositGrant", as: ada, at: place, body: { grant: "ab" }, status: 400, code: "MalformedRequest" },
  { call: "depositGrant", as: ada, at: place, body: { grant: "f".repeat(278) }, status: 400, code: "GrantUndecodable" },
  {
    call: "depositGrant",
    as: ada,
    at: place,
    body: { grant: grantBy("operator", other, "cam") },
    status: 400,
    code: "GrantMismatch"
  },
  {
    call: "depositGrant",
    as: bob,
    at: place,
    body: { grant: grantBy("operator", channel, "dog") },
    status: 400,
    code: "GrantMismatch",
    because: "the ids are looked at first"
  },
  {
    call: "depositGrant",
    as: bob,
    at: place,
    body: { grant: grantBy("operator", channel, "cam") },
    status: 403,
    code: "NotChannelOwner"
  },
  {
    call: "depositGrant",
    as: ada,
    at: { channel, holder: keyOf("dog") },
    body: { grant: grantBy("operator", channel, "dog") },
    status: 404,
    code: "MemberNotFound"
  },
  {
    call: "listGrants",
    as: ada,
    at,
    status: 200,
    answer: { grants: [{ holder: keyOf("cam"), grant: grantBy("operator", channel, "cam") }] }
  },
  ...others("listGrants"),

  ...others("removeMember", { at: place }),
  { call: "removeMember", as: ada, at: place, status: 200 },
  { call: "removeMember", as: ada, at: place, status: 200, because: "one that is none is removed already" },
  malformed("removeMember", { at: { channel, holder: "cam" } }),
  { call: "listGrants", as: ada, at, status: 200, answer: { grants: [] }, because: "the grant goes with its member" }
]

const allowList: ReadonlyArray<Contract.Row> = [
  { call: "allow", as: ada, at, body: { email: "Cyd@People.Example" }, status: 200 },
  { call: "allow", as: ada, at, body: { email: "cyd@people.example" }, status: 200 },
  { call: "allow", as: ada, at, body: { email: "cyd" }, status: 400, code: "MalformedRequest" },
  ...others("allow", { body: { email: "cyd@people.example" } }),
  { call: "listAllowed", as: ada, at, status: 200, answer: { emails: ["cyd@people.example"] } },
  ...others("listAllowed"),
  ...others("disallow", { at: { channel, email: "cyd@people.example" } }),
  { call: "disallow", as: ada, at: { channel, email: "CYD@people.example" }, status: 200 },
  { call: "disallow", as: ada, at: { channel, email: "cyd@people.example" }, status: 200 },
  malformed("disallow", { at: { channel, email: "cyd" } }),
  { call: "listAllowed", as: ada, at, status: 200, answer: { emails: [] } }
]

const key = { "idempotency-key": "once" }
const invites: ReadonlyArray<Contract.Row> = [
  { call: "mintClaimInvite", as: ada, at, body: { ...materialOf(channel, "cam"), label: " laptop " }, status: 200 },
  { call: "mintClaimInvite", as: bob, at, body: materialOf(channel, "cam"), status: 404, code: "ChannelNotFound" },
  {
    call: "mintClaimInvite",
    as: bob,
    at,
    body: "{",
    status: 404,
    code: "ChannelNotFound",
    because: "ownership is decided before the body is looked at"
  },
  { call: "mintClaimInvite", as: ada, at: unknownChannel, body: {}, status: 404, code: "ChannelNotFound" },
  { call: "mintJoinLink", as: ada, at, body: { secret: "sealed" }, status: 200 },
  { call: "mintJoinLink", as: ada, at, body: { secret: "s".repeat(8193) }, status: 422, code: "WrongShape" },
  { call: "mintJoinLink", as: ada, at, body: { secret: "one" }, headers: key, status: 200 },
  {
    call: "mintJoinLink",
    as: ada,
    at,
    body: { secret: "two" },
    headers: key,
    status: 409,
    code: "IdempotencyKeyReused"
  },
  { call: "mintJoinLink", as: bob, at, body: { secret: "sealed" }, status: 403, code: "NotChannelOwner" },
  { call: "mintJoinLink", as: ada, at: unknownChannel, body: { secret: "s" }, status: 403, code: "NotChannelOwner" },
  { call: "mintClaimInvite", as: ada, at, body: materialOf(other, "cam"), status: 400, code: "AttestationRefused" },
  ...[" ", "two\nlines", "x".repeat(65)].map((label) => ({
    call: "mintClaimInvite",
    as: ada,
    at,
    body: { ...materialOf(channel, "cam"), label },
    status: 400,
    code: "MalformedRequest"
  })),
  { call: "mintClaimInvite", as: ada, at, body: { holder: keyOf("cam") }, status: 422, code: "WrongShape" },
  { call: "mintClaimInvite", as: ada, at, body: "x".repeat(2 * 1024 * 1024 + 1), status: 413, code: "BodyTooLarge" },
  {
    call: "mintClaimInvite",
    as: ada,
    at,
    body: "holder=x",
    headers: { "content-type": "text/plain" },
    status: 415,
    code: "UnsupportedMediaType"
  },
  { call: "mintClaimInvite", as: ada, at, body: materialOf(channel, "dog"), headers: key, status: 200 },
  {
    call: "mintClaimInvite",
    as: ada,
    at,
    body: materialOf(channel, "cam"),
    headers: key,
    status: 409,
    code: "IdempotencyKeyReused"
  },
  { call: "listClaimInvites", as: ada, at, status: 200 },
  { call: "listClaimInvites", as: bob, at, status: 404, code: "ChannelNotFound" },
  { call: "listClaimInvites", as: ada, at: unknownChannel, status: 404, code: "ChannelNotFound" }
]

const room = (...holders: ReadonlyArray<string>) => ({ operator_pubkey: keyOf("host"), holders: holders.map(keyOf) })
const pair = (a: string, b: string) => ({ a: keyOf(a), b: keyOf(b), channel: linkOf("host", a, b) })
const many = (count: number) => Array.from({ length: count }, (_, n) => `guest ${n}`)
const rooms: ReadonlyArray<Contract.Row> = [
  { call: "openRoom", as: ada, body: room("y", "x"), status: 200, answer: { channels: [pair("y", "x")] } },
  {
    call: "openRoom",
    as: ada,
    body: room("x", "y", "z"),
    status: 200,
    answer: { channels: [pair("x", "y"), pair("x", "z"), pair("y", "z")] },
    because: "it is additive, and pairs are named in the order of the request"
  },
  { call: "openRoom", as: ada, body: room(...many(1)), status: 400, code: "RoomSizeOutOfRange" },
  { call: "openRoom", as: ada, body: room(...many(13)), status: 400, code: "RoomSizeOutOfRange" },
  { call: "openRoom", as: account("host"), body: room(...many(12)), status: 200, because: "66 pairs fit" },
  { call: "openRoom", as: ada, body: room("x", "y", "x"), status: 400, code: "HolderRepeated" },
  {
    call: "openRoom",
    as: ada,
    body: { ...room("x"), holders: [keyOf("x"), "y"] },
    status: 400,
    code: "MalformedRequest"
  },
  { call: "openRoom", as: bob, body: room("w", "x", "y"), status: 409, code: "RoomPairTaken" },
  {
    call: "openRoom",
    as: bob,
    body: { ...room("w", "x"), operator_proof: "0".repeat(128) },
    status: 403,
    code: "OperatorProofRefused"
  },
  { call: "listRooms", as: bob, status: 200, answer: { channels: [] }, because: "a refused room leaves nothing" },
  { call: "list", as: bob, status: 200, answer: { channels: [] } },
  {
    call: "openRoom",
    as: account("small"),
    body: { ...room("v", "w"), operator_pubkey: keyOf("another host") },
    status: 403,
    code: "ChannelLimitReached"
  },
  { call: "listRooms", as: ada, status: 200 }
]

const end: ReadonlyArray<Contract.Row> = [
  ...others("deregister"),
  malformed("deregister"),
  { call: "deregister", as: ada, at, status: 200 },
  { call: "deregister", as: ada, at, status: 403, code: "NotChannelOwner" },
  { call: "register", as: bob, body: registration, status: 200, because: "the channel is free again" },
  { call: "listMembers", as: bob, at, status: 200, answer: { members: [] } },
  { call: "listAllowed", as: bob, at, status: 200, answer: { emails: [] } },
  { call: "listClaimInvites", as: bob, at, status: 200, answer: { invites: [] } }
]

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the channel registry", (it) => {
  it.effect("answers as declared", () =>
    Effect.gen(function* () {
      yield* SqlClient.SqlClient.use(
        (sql) => sql`insert into account_limits ${sql.insert({ subject: "small", maxChannels: 1 })}`
      ).pipe(Effect.provide(database))
      yield* Contract.hold("channels", ada, [...registry, ...members, ...allowList, ...invites, ...rooms, ...end], {
        "register LinkOperatorDiffers": "held in TopologyAuthorizations.test.ts, with a topology that is bound"
      })
    })
  )
})
