/** Taking up a membership: by a verified e-mail that the owner allow-listed, or by a claim invite. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ChannelId } from "../channels/Channel.ts"
import {
  AttestationRefused,
  ClaimInviteGone,
  ClaimInviteUnknown,
  ClaimProofRefused,
  HolderClaimedElsewhere,
  NotAllowListed,
  NothingClaimed
} from "../channels/ChannelErrors.ts"
import { Claim, ClaimedIdentity, ClaimRequest } from "../channels/Claim.ts"
import { ClaimInvite } from "../channels/ClaimInvite.ts"
import { VerifiedEmailRequired } from "../identity/AuthenticationErrors.ts"
import { LimitReached } from "../values/RequestErrors.ts"
import { RateLimit, SameOrigin, SessionAccess } from "./Access.ts"
import { pageQuery } from "./Page.ts"
import { exactBody, ReadsBody, ReadsParameters } from "./RequestReading.ts"

const channel = { channel: ChannelId }

/** Read as any text: a malformed token is an unknown one. */
const invite = { invite: Schema.RedactedFromValue(Schema.String, { label: "claim invite" }) }

export class ClaimsApi extends HttpApiGroup.make("claims")
  .add(
    HttpApiEndpoint.get("list", "/portal/claims", {
      query: pageQuery,
      success: Schema.Struct({ claims: Schema.Array(Claim) })
    }),
    HttpApiEndpoint.get("collectGrants", "/portal/channels/:channel/grant", {
      params: channel,
      success: Schema.Struct({ channel: ChannelId, identities: Schema.Array(ClaimedIdentity) }),
      error: NothingClaimed
    }),
    HttpApiEndpoint.get("showInvite", "/portal/claims/invite", {
      query: invite,
      success: ClaimInvite,
      error: [ClaimInviteUnknown, ClaimInviteGone]
    })
  )
  .middleware(ReadsParameters)
  .add(
    HttpApiEndpoint.post("claim", "/portal/channels/:channel/claim", {
      params: channel,
      payload: ClaimRequest,
      success: Schema.Struct({ claimed: Schema.Literal(true) }),
      error: [
        AttestationRefused,
        ClaimProofRefused,
        VerifiedEmailRequired,
        NotAllowListed,
        HolderClaimedElsewhere,
        LimitReached
      ]
    })
      .middleware(ReadsBody)
      .middleware(SameOrigin),
    HttpApiEndpoint.post("confirmInvite", "/portal/claims/confirm", {
      payload: Schema.Struct(invite),
      success: Schema.Struct({ channel: ChannelId }),
      error: [VerifiedEmailRequired, ClaimInviteUnknown, ClaimInviteGone, HolderClaimedElsewhere, LimitReached]
    })
      .annotateMerge(exactBody)
      .middleware(ReadsBody)
      .middleware(SameOrigin)
  )
  .middleware(RateLimit)
  .middleware(SessionAccess) {}
