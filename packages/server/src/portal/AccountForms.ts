/** Forms by which memberships of channels are claimed. */
import { ChannelId, MemberMaterial } from "@catenet/domain/channels/Channel"
import { Effect, Redacted } from "effect"
import { Claims } from "../channels/Claims.ts"
import { ClaimInvites } from "../channels/ClaimInvites.ts"
import { read, seeOther, type Submit } from "./Forms.ts"
import { problemTexts } from "./shell/ProblemTexts.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import * as Visits from "./shell/Visits.ts"

const channels = "/portal/channels"

const readMaterial = read(MemberMaterial)
const readChannel = read(ChannelId)

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const claims = yield* Claims
  const invites = yield* ClaimInvites

  return {
    "/portal/claim/confirm": ({ caller, form }) =>
      Effect.as(
        invites.confirm(caller, Redacted.make(form["invite"] ?? "")),
        seeOther("/portal/channels?notice=claimed")
      ),
    // What became of a claim is said on a page, also when it was refused.
    "/portal/channels/:channel/claim-form": ({ at, caller, form, self }) => {
      const { texts } = self.reader
      const said = (title: string, detail: string) =>
        show(self, ProblemPage.page({ title, detail, link: { href: channels, text: texts.back } }))
      return Effect.gen(function* () {
        yield* claims.requireEmail(caller)
        const channel = yield* readChannel(at("channel"))
        yield* claims.claim(caller, channel, yield* readMaterial(form))
        return said(texts.claimedTitle, texts.claimedText)
      }).pipe(Effect.catch((refusal) => Effect.succeed(said(...problemTexts(texts, refusal)))))
    }
  } satisfies Readonly<Record<string, Submit>>
})
