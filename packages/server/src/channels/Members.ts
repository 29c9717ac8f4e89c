/** Members of channels and the grants that their owner deposits for them. */
import * as CryptoGrant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelAuthorisation } from "@catenet/domain/api/EdgesApi"
import type { ChannelId, Grant, MemberMaterial } from "@catenet/domain/Channel"
import { AttestationRefused, GrantMismatch, GrantUndecodable, MemberNotFound } from "@catenet/domain/errors/Channels"
import { MemberNotAdmitted } from "@catenet/domain/errors/Edges"
import type { HolderKey } from "@catenet/domain/Keys"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { paged, type Page } from "../http/Paging.ts"
import { asDefects } from "../store/Defects.ts"
import * as Attestation from "./Attestation.ts"
import { Channels } from "./Channels.ts"
import * as Store from "./Store.ts"

type Account = Caller["Service"]

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const { requireOwner } = yield* Channels

  return {
    /** Adds a member, or replaces its Noise key and attestation. */
    add: Effect.fn("Members.add")(
      function* (caller: Account, channel: ChannelId, material: MemberMaterial) {
        if (!Attestation.holds(channel, material)) return yield* new AttestationRefused()
        yield* store.lock(channel)
        yield* requireOwner(channel, caller)
        const { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey } = material
        yield* store.putMember({ channel, holder, noisePubkey, noiseAttestation })
      },
      store.transaction,
      asDefects
    ),

    /** Removes a member with its grant and its claim; one that is none is removed already. */
    remove: Effect.fn("Members.remove")(function* (caller: Account, channel: ChannelId, holder: HolderKey) {
      yield* requireOwner(channel, caller)
      yield* store.dropMember(channel, holder)
    }, asDefects),

    list: Effect.fn("Members.list")(function* (caller: Account, channel: ChannelId, page: Page) {
      yield* requireOwner(channel, caller)
      const found = yield* paged(
        page,
        Schema.String,
        (slice) => store.members({ of: channel, ...slice }),
        ({ holder }) => holder
      )
      return found.map(Store.shown)
    }, asDefects),

    /** Deposits a grant for a member to pick up. What it grants is checked where it is used. */
    depositGrant: Effect.fn("Members.depositGrant")(
      function* (caller: Account, at: { readonly channel: ChannelId; readonly holder: HolderKey }, grant: Grant) {
        const read = CryptoGrant.fromHex(grant)
        if (Result.isFailure(read)) return yield* new GrantUndecodable()
        if (Hex.encode(read.success.channel) !== at.channel) return yield* new GrantMismatch({ part: "channel" })
        if (Hex.encode(read.success.holder) !== at.holder) return yield* new GrantMismatch({ part: "holder" })
        yield* store.lock(at.channel)
        yield* requireOwner(at.channel, caller)
        if (Option.isNone(yield* store.isMember(at))) return yield* new MemberNotFound()
        yield* store.putGrant({ ...at, grantHex: grant })
      },
      store.transaction,
      asDefects
    ),

    grants: Effect.fn("Members.grants")(function* (caller: Account, channel: ChannelId, page: Page) {
      yield* requireOwner(channel, caller)
      return yield* paged(
        page,
        Schema.String,
        (slice) => store.grants({ of: channel, ...slice }),
        ({ holder }) => holder
      )
    }, asDefects),

    /** What an edge is told about a holder that wants to join. */
    authorise: Effect.fn("Members.authorise")(function* (at: {
      readonly channel: ChannelId
      readonly holder: HolderKey
    }) {
      const member = yield* store.isMember(at)
      if (Option.isNone(member)) return yield* new MemberNotAdmitted()
      const { noiseAttestation, noisePubkey, operatorPubkey } = member.value
      return new ChannelAuthorisation({
        operator_pubkey: operatorPubkey,
        noise_pubkey: noisePubkey,
        noise_attestation: noiseAttestation
      })
    }, asDefects)
  }
})

export class Members extends Context.Service<Members, Effect.Success<typeof make>>()("server/ChannelMembers") {
  static readonly layer = Layer.effect(Members, make)
}
