/** Handlers of the `channels`, `claims` and `invitations` groups. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { InviteLabel, MemberMaterial } from "@catenet/domain/Channel"
import { Effect, Layer, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Body from "../http/Body.ts"
import { Channels } from "./Channels.ts"
import { ClaimInvites } from "./ClaimInvites.ts"
import { Claims } from "./Claims.ts"
import { Invitations } from "./Invitations.ts"
import { Members } from "./Members.ts"
import { Rooms } from "./Rooms.ts"

const InviteRequest = Schema.Struct({ ...MemberMaterial.fields, label: Schema.optionalKey(InviteLabel) })

const channels = HttpApiBuilder.group(
  ControlPlaneApi,
  "channels",
  Effect.fnUntraced(function* (handlers) {
    const registry = yield* Channels
    const members = yield* Members
    const claims = yield* Claims
    const invites = yield* ClaimInvites
    const rooms = yield* Rooms
    return handlers
      .handleAll({
        list: ({ query }) =>
          Caller.use((caller) => Effect.map(registry.list(caller, query), (found) => ({ channels: found }))),
        get: ({ params }) => Caller.use((caller) => registry.get(caller, params.channel)),
        register: ({ payload }) => Caller.use((caller) => registry.register(caller, payload)),
        deregister: ({ params }) => Caller.use((caller) => registry.deregister(caller, params.channel)),
        addMember: ({ params, payload }) => Caller.use((caller) => members.add(caller, params.channel, payload)),
        removeMember: ({ params }) => Caller.use((caller) => members.remove(caller, params.channel, params.holder)),
        listMembers: ({ params, query }) =>
          Caller.use((caller) =>
            Effect.map(members.list(caller, params.channel, query), (found) => ({ members: found }))
          ),
        depositGrant: ({ params, payload }) =>
          Caller.use((caller) => members.depositGrant(caller, params, payload.grant)),
        listGrants: ({ params, query }) =>
          Caller.use((caller) => Effect.map(members.grants(caller, params.channel, query), (grants) => ({ grants }))),
        allow: ({ params, payload }) => Caller.use((caller) => claims.allow(caller, params.channel, payload.email)),
        disallow: ({ params }) => Caller.use((caller) => claims.disallow(caller, params.channel, params.email)),
        listAllowed: ({ params, query }) =>
          Caller.use((caller) =>
            Effect.map(claims.listAllowed(caller, params.channel, query), (emails) => ({ emails }))
          ),
        listClaimInvites: ({ params, query }) =>
          Caller.use((caller) =>
            Effect.map(invites.list(caller, params.channel, query), (found) => ({ invites: found }))
          ),
        openRoom: ({ payload }) =>
          Caller.use((caller) =>
            Effect.map(rooms.open(caller, payload.operator_pubkey, payload.holders), (pairs) => ({ channels: pairs }))
          ),
        listRooms: ({ query }) =>
          Caller.use((caller) => Effect.map(rooms.list(caller, query), (pairs) => ({ channels: pairs })))
      })
      .handleRaw("mintClaimInvite", ({ headers, params, request }) =>
        Effect.gen(function* () {
          const caller = yield* Caller
          yield* invites.requireOwner(caller, params.channel)
          const { label, ...material } = yield* Body.read(request, InviteRequest)
          const key = headers["idempotency-key"]
          return yield* invites.mint(caller, params.channel, { material: new MemberMaterial(material), label, key })
        })
      )
  })
)

const claimGroup = HttpApiBuilder.group(
  ControlPlaneApi,
  "claims",
  Effect.fnUntraced(function* (handlers) {
    const claims = yield* Claims
    const invites = yield* ClaimInvites
    return handlers.handleAll({
      list: ({ query }) =>
        Caller.use((caller) => Effect.map(claims.list(caller, query), (found) => ({ claims: found }))),
      collectGrants: ({ params }) => Caller.use((caller) => claims.collectGrants(caller, params.channel)),
      claim: ({ params, payload }) =>
        Caller.use((caller) => Effect.as(claims.claim(caller, params.channel, payload), { claimed: true as const })),
      showInvite: ({ query }) => invites.show(query.invite),
      confirmInvite: ({ payload }) => Caller.use((caller) => invites.confirm(caller, payload.invite))
    })
  })
)

const invitations = HttpApiBuilder.group(
  ControlPlaneApi,
  "invitations",
  Effect.fnUntraced(function* (handlers) {
    const service = yield* Invitations
    return handlers.handleAll({
      challenge: () => Effect.map(service.challenge(), (challenge) => ({ challenge })),
      redeem: ({ payload }) => service.redeem(payload)
    })
  })
)

export const layer = Layer.mergeAll(channels, claimGroup, invitations)
