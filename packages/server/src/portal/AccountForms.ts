/** Forms of an account: credits, and memberships that are claimed. */
import { ChannelId, MemberMaterial } from "@catenet/domain/channels/Channel"
import { Effect, Redacted, Schema } from "effect"
import { Claims } from "../channels/Claims.ts"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { Credits } from "../billing/Credits.ts"
import { Payments } from "../billing/Payments.ts"
import { notice, read, seeOther, type Submit } from "./Forms.ts"

const channels = "/portal/channels"

const readCredits = read(Schema.Struct({ credits: Schema.FiniteFromString.check(Schema.isInt()) }))
const readMaterial = read(MemberMaterial)
const readChannel = read(ChannelId)

export const make = Effect.gen(function* () {
  const claims = yield* Claims
  const invites = yield* ClaimInvites
  const credits = yield* Credits
  const payments = yield* Payments

  return {
    "/portal/account/credits": ({ caller, form }) =>
      Effect.gen(function* () {
        const asked = yield* readCredits(form)
        const { account } = yield* credits.mine(caller.subject)
        const request = { account, credits: asked.credits }
        const { payment } = yield* payments
          .intend(caller.subject, request, undefined)
          .pipe(Effect.catchTag(["AccountUnknown", "IdempotencyKeyReused"], (error) => Effect.die(error)))
        return notice("Payment wanted", `It counts when the provider has confirmed it: ${payment}`, "/portal/account")
      }),
    "/portal/claim/confirm": ({ caller, form }) =>
      Effect.as(
        invites.confirm(caller, Redacted.make(form["invite"] ?? "")),
        seeOther("/portal/channels?notice=claimed")
      ),
    // A claim that is refused is told on the page, too.
    "/portal/channels/:channel/claim-form": ({ at, caller, form }) =>
      Effect.gen(function* () {
        yield* claims.requireEmail(caller)
        const channel = yield* readChannel(at("channel"))
        yield* claims.claim(caller, channel, yield* readMaterial(form))
        return notice("Claimed", "You are a member of the channel.", channels)
      }).pipe(Effect.catch(({ detail, title }) => Effect.succeed(notice(title, detail, channels))))
  } satisfies Readonly<Record<string, Submit>>
})
