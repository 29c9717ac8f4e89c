/** Invite links of a channel as its owner makes them, with a control plane in this process. */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import * as InviteLink from "@catenet/crypto/invite/InviteLink"
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import { native } from "@catenet/crypto/native"
import { ChannelId, ChannelRegistration } from "@catenet/domain/channels/Channel"
import { bearerOf } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { Effect, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"

const farFuture = 4_102_444_800n
const bytes = () => new Uint8Array(randomBytes(32))

const account = (owner: string) => Effect.flatMap(bearerOf(owner), (bearer) => TestServer.clientAs({ bearer }))

export interface OwnedChannel {
  readonly channel: Uint8Array
  readonly operator: Redacted.Redacted<Uint8Array>
}

/** A channel of this account. */
export const open = Effect.fn("JoinLinks.open")(function* (owner: string) {
  const operator = Redacted.make(bytes())
  const channel = bytes()
  const registration = Schema.decodeSync(ChannelRegistration)({
    channel: Hex.encode(channel),
    operator_pubkey: Hex.encode(native.ed25519.publicKey(Redacted.value(operator)))
  })
  const { channels } = yield* account(owner)
  yield* channels.register({ payload: registration })
  const owned: OwnedChannel = { channel, operator }
  return owned
})

/** Its members, as the owner sees them. */
export const members = Effect.fn("JoinLinks.members")(function* (owner: string, { channel }: OwnedChannel) {
  const { channels } = yield* account(owner)
  const listed = yield* channels.listMembers({
    params: { channel: Schema.decodeSync(ChannelId)(Hex.encode(channel)) },
    query: {}
  })
  return listed.members.map(({ holder, noise_pubkey }) => ({ holder: String(holder), noiseKey: String(noise_pubkey) }))
})

/** Ends it. */
export const close = Effect.fn("JoinLinks.close")(function* (owner: string, { channel }: OwnedChannel) {
  const { channels } = yield* account(owner)
  yield* channels.deregister({ params: { channel: Schema.decodeSync(ChannelId)(Hex.encode(channel)) } })
})

/** A link to it, and the text of it. */
export const mint = Effect.fn("JoinLinks.mint")(function* (owner: string, { channel, operator }: OwnedChannel) {
  const [holderKey, key] = [bytes(), bytes()]
  const holder = native.ed25519.publicKey(holderKey)
  const permission = { channel, direction: "accept", rights: "rw", delegable: false, expiresAt: farFuture } as const
  const secret = PreparedMembership.seal(native, Redacted.make(key), {
    use: "mcp",
    invitation: Invitation.toHex(Invitation.sign(native, operator, { ...permission, invitee: holder })),
    holderKey: Hex.encode(holderKey),
    values: [
      ["CT_CHANNEL_ROLE", "accept"],
      ["CT_CHANNEL_GRANT", Grant.toHex(Grant.sign(native, operator, { ...permission, holder }))],
      ["CT_CHANNEL_HOLDER_KEY", Hex.encode(holderKey)],
      ["CT_CHANNEL_BROKER", "127.0.0.1:1"],
      ["CT_CHANNEL_RELAY", "127.0.0.1:1"],
      ["CT_CHANNEL_RELAY_ONLY", "1"]
    ]
  })
  const { channels } = yield* account(owner)
  const { token } = yield* channels.mintJoinLink({
    headers: {},
    params: { channel: Schema.decodeSync(ChannelId)(Hex.encode(channel)) },
    payload: { secret: Redacted.make(secret, { label: "bootstrap secret" }) }
  })
  const link: InviteLink.InviteLink = {
    controlPlane: yield* TestServer.baseUrl,
    token: Redacted.make(new Uint8Array(Buffer.from(Redacted.value(token), "hex"))),
    key: Redacted.make(key)
  }
  return { link, text: InviteLink.write(link), holder: Hex.encode(holder) }
})
