/** Channel invitations across accounts: public, and gated by what the operator and the invitee have signed. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ChannelUnknown, InvitationExpired, InvitationRefused, InvitationSpent } from "../channels/ChannelErrors.ts"
import { Challenge, InvitationRedemption } from "../channels/InvitationRedemption.ts"
import { LimitReached } from "../values/RequestErrors.ts"
import { RateLimit } from "./Access.ts"
import { ReadsBody } from "./RequestReading.ts"

export class InvitationsApi extends HttpApiGroup.make("invitations")
  .add(
    HttpApiEndpoint.post("challenge", "/channel/invite/challenge", {
      success: Schema.Struct({ challenge: Challenge })
    }),
    HttpApiEndpoint.post("redeem", "/channel/invite/redeem", {
      payload: InvitationRedemption,
      success: HttpApiSchema.Empty(200),
      error: [InvitationRefused, ChannelUnknown, InvitationSpent, InvitationExpired, LimitReached]
    }).middleware(ReadsBody)
  )
  .middleware(RateLimit) {}
