/** Handlers of channels: the registry, claims, and signed invitations. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { readBody } from "@catenet/domain/api/RequestReading"
import { joinLinkSeconds, MemberMaterial } from "@catenet/domain/channels/Channel"
import { ClaimRequest } from "@catenet/domain/channels/Claim"
import { InviteLabel } from "@catenet/domain/channels/ClaimInvite"
import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AllowLists } from "../channels/AllowLists.ts"
import { Channels, hideForeign } from "../channels/Channels.ts"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { Claims } from "../channels/Claims.ts"
import { Invitations } from "../channels/Invitations.ts"
import { Members } from "../channels/Members.ts"
import { Rooms } from "../channels/Rooms.ts"
import { Bootstraps } from "../enrollment/Bootstraps.ts"
import { ClientAddresses } from "../http/ClientAddresses.ts"

/** Handlers of the `claims` group. */
export const ClaimHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "claims",
  Effect.fn(function* (handlers) {
    const claims = yield* Claims
    const invites = yield* ClaimInvites
    return handlers
      .handleAll({
        list: ({ query }) =>
          Caller.use((caller) => Effect.map(claims.list(caller, query), (found) => ({ claims: found }))),
        collectGrants: ({ params }) => Caller.use((caller) => claims.collectGrants(caller, params.channel)),
        showInvite: ({ query }) => invites.show(query.invite),
        confirmInvite: ({ payload }) => Caller.use((caller) => invites.confirm(caller, payload.invite))
      })
      .handleRaw("claim", ({ params }) =>
        Effect.gen(function* () {
          const caller = yield* Caller
          yield* claims.requireEmail(caller)
          yield* claims.claim(caller, params.channel, yield* readBody(ClaimRequest))
          return { claimed: true as const }
        })
      )
  })
)

/** Handlers of the `invitations` group. */
export const InvitationHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "invitations",
  Effect.fn(function* (handlers) {
    const invitations = yield* Invitations
    const { budgetKey } = yield* ClientAddresses
    return handlers.handleAll({
      challenge: ({ request }) => Effect.map(invitations.challenge(budgetKey(request)), (challenge) => ({ challenge })),
      redeem: ({ payload }) => invitations.redeem(payload)
    })
  })
)

const InviteRequest = Schema.Struct({ ...MemberMaterial.fields, label: Schema.optionalKey(InviteLabel) })

export const ChannelHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "channels",
  Effect.fn(function* (handlers) {
    const channels = yield* Channels
    const members = yield* Members
    const allowLists = yield* AllowLists
    const invites = yield* ClaimInvites
    const rooms = yield* Rooms
    const bootstraps = yield* Bootstraps
    return handlers
      .handleAll({
        list: ({ query }) =>
          Caller.use((caller) => Effect.map(channels.list(caller, query), (found) => ({ channels: found }))),
        get: ({ params }) => Caller.use((caller) => channels.get(caller, params.channel)),
        register: ({ payload }) => Caller.use((caller) => channels.register(caller, payload)),
        deregister: ({ params }) => Caller.use((caller) => channels.deregister(caller, params.channel)),
        addMember: ({ params, payload }) => Caller.use((caller) => members.add(caller, params.channel, payload)),
        removeMember: ({ params }) => Caller.use((caller) => members.remove(caller, params)),
        listMembers: ({ params, query }) =>
          Caller.use((caller) =>
            Effect.map(members.list(caller, params.channel, query), (found) => ({ members: found }))
          ),
        depositGrant: ({ params, payload }) =>
          Caller.use((caller) => members.depositGrant(caller, params, payload.grant)),
        listGrants: ({ params, query }) =>
          Caller.use((caller) => Effect.map(members.grants(caller, params.channel, query), (grants) => ({ grants }))),
        allow: ({ params, payload }) => Caller.use((caller) => allowLists.allow(caller, params.channel, payload.email)),
        disallow: ({ params }) => Caller.use((caller) => allowLists.disallow(caller, params.channel, params.email)),
        listAllowed: ({ params, query }) =>
          Caller.use((caller) => Effect.map(allowLists.list(caller, params.channel, query), (emails) => ({ emails }))),
        listClaimInvites: ({ params, query }) =>
          Caller.use((caller) =>
            Effect.map(invites.list(caller, params.channel, query), (found) => ({ invites: found }))
          ),
        mintJoinLink: ({ headers, params, payload }) =>
          Caller.use((caller) => {
            const key = headers["idempotency-key"]
            return Effect.andThen(
              channels.requireOwner(caller, params.channel),
              Effect.map(bootstraps.mint(payload.secret, joinLinkSeconds, key, caller.subject), ({ token }) => ({
                token,
                expires_in_secs: joinLinkSeconds
              }))
            )
          }),
        openRoom: ({ payload }) =>
          Caller.use((caller) =>
            Effect.map(
              rooms.open(caller, payload.operator_pubkey, payload.holders, payload.operator_proof),
              (pairs) => ({ channels: pairs })
            )
          ),
        listRooms: ({ query }) =>
          Caller.use((caller) => Effect.map(rooms.list(caller, query), (pairs) => ({ channels: pairs })))
      })
      .handleRaw("mintClaimInvite", ({ headers, params }) =>
        Effect.gen(function* () {
          const caller = yield* Caller
          yield* hideForeign(channels.requireOwner(caller, params.channel))
          const { label, ...material } = yield* readBody(InviteRequest)
          const key = headers["idempotency-key"]
          return yield* invites.mint(caller, params.channel, { material: new MemberMaterial(material), label, key })
        })
      )
  })
)
