/** Members of channels and the grants that their owner deposits for them. */
import * as CryptoGrant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import type { Caller } from "@catenet/domain/api/Access"
import { mostMembersOfChannel } from "@catenet/domain/values/Caps"
import type { ChannelId, Grant, MemberMaterial } from "@catenet/domain/channels/Channel"
import {
  AttestationRefused,
  GrantMismatch,
  GrantUndecodable,
  MemberNotFound
} from "@catenet/domain/channels/ChannelErrors"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { Audits } from "../identity/Audits.ts"
import { paged, type Page } from "../http/Paging.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { within } from "../store/Within.ts"
import * as Attestation from "./Attestation.ts"
import { Channels } from "./Channels.ts"
import * as Store from "./ChannelStore.ts"

type Account = Caller["Service"]

/** A member, or who may become one. */
export interface Place {
  readonly channel: ChannelId
  readonly holder: HolderKey
}

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const audits = yield* Audits
  const { command, requireOwner } = yield* Channels

  /** Puts a member into its channel, inside the caller's transaction. Nothing is written down of one that is as it was. */
  const put = Effect.fnUntraced(function* (actor: string, channel: ChannelId, material: MemberMaterial) {
    const { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey } = material
    const entry = audit("channel_member_added", actor, channel, holder)
    const isNew = yield* audits.appendTo(store.putMember({ channel, holder, noisePubkey, noiseAttestation }), entry)
    if (!isNew)
      yield* Effect.flatMap(
        store.isMember({ channel, holder }),
        within("members of this channel", mostMembersOfChannel)
      )
  })

  const drop = Effect.fnUntraced(function* (actor: string, { channel, holder }: Place) {
    const entry = audit("channel_member_removed", actor, channel, holder)
    yield* audits.appendTo(store.dropMember(channel, holder), entry)
  })

  const deposit = Effect.fnUntraced(function* (actor: string, place: Place, grant: Grant) {
    if ((yield* store.isMember(place)).length === 0) return yield* new MemberNotFound()
    yield* store.putGrant({ ...place, grantHex: grant })
    yield* audits.append(audit("channel_grant_deposited", actor, place.channel, place.holder))
  })

  return {
    put,

    /** Adds a member, or replaces its Noise key and attestation. */
    add: Effect.fn("Members.add")(function* (account: Account, channel: ChannelId, material: MemberMaterial) {
      if (!Attestation.holds(channel, material)) return yield* new AttestationRefused()
      yield* command(channel, account, put(account.subject, channel, material))
    }),

    /** Removes a member with its grant and its claim; one that is none is removed already. */
    remove: Effect.fn("Members.remove")((account: Account, place: Place) =>
      command(place.channel, account, drop(account.subject, place))
    ),

    list: Effect.fn("Members.list")(function* (account: Account, channel: ChannelId, page: Page) {
      yield* requireOwner(channel, account)
      const found = yield* paged(
        page,
        Schema.String,
        (slice) => store.members({ of: channel, ...slice }),
        ({ holder }) => holder
      )
      return found.map(Store.shown)
    }, sqlOrDie),

    /**
     * Deposits a grant for a member to pick up. Its ids must be those of the place; whether its signature holds and
     * whether it has expired is decided at the broker, each time it is used.
     */
    depositGrant: Effect.fn("Members.depositGrant")(function* (account: Account, place: Place, grant: Grant) {
      const read = CryptoGrant.fromHex(grant)
      if (Result.isFailure(read)) return yield* new GrantUndecodable()
      if (Hex.encode(read.success.channel) !== place.channel) return yield* new GrantMismatch({ part: "channel" })
      if (Hex.encode(read.success.holder) !== place.holder) return yield* new GrantMismatch({ part: "holder" })
      yield* command(place.channel, account, deposit(account.subject, place, grant))
    }),

    grants: Effect.fn("Members.grants")(function* (account: Account, channel: ChannelId, page: Page) {
      yield* requireOwner(channel, account)
      return yield* paged(
        page,
        Schema.String,
        (slice) => store.grants({ of: channel, ...slice }),
        ({ holder }) => holder
      )
    }, sqlOrDie)
  }
})

export class Members extends Context.Service<Members, Effect.Success<typeof make>>()("server/ChannelMembers") {
  static readonly layer = Layer.effect(Members, make)
}
