/** Forms of channels: registration, members, allow-list, grants, claims, invites, rooms, and removal. */
import {
  ChannelId,
  ChannelLabel,
  ChannelRegistration,
  Grant,
  joinLinkSeconds,
  MemberMaterial
} from "@catenet/domain/channels/Channel"
import {
  ChannelNotFound,
  HolderRepeated,
  type NotChannelOwner,
  RoomSizeOutOfRange
} from "@catenet/domain/channels/ChannelErrors"
import { ClaimRequest } from "@catenet/domain/channels/Claim"
import { InviteLabel } from "@catenet/domain/channels/ClaimInvite"
import { Email } from "@catenet/domain/values/Email"
import { HolderKey, NewHolderKey, NewOperatorKey } from "@catenet/domain/values/Keys"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { BootstrapSecret } from "@catenet/domain/values/Tokens"
import { Effect, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServerResponse } from "effect/http"
import { hideForeign } from "../channels/Channels.ts"
import { Bootstraps } from "../enrollment/Bootstraps.ts"
import { freshHex64 } from "../runtime/TokenSecrets.ts"
import * as ChannelPages from "./ChannelPages.ts"
import { filled, read, refusedFields, seeOther, sentBack, type Submission, type Submit } from "./Forms.ts"
import * as OncePage from "./pages/OncePage.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import { problemTexts } from "./shell/ProblemTexts.ts"
import * as Visits from "./shell/Visits.ts"

const readSecret = read(Schema.Struct({ secret: BootstrapSecret }))
const readChannel = read(Schema.Struct({ channel: ChannelId }))
const readOperator = read(Schema.Struct({ operator_pubkey: NewOperatorKey }))
const readMaterial = read(MemberMaterial)
const readClaim = read(ClaimRequest)
const readLabel = read(Schema.Struct({ label: Schema.optionalKey(InviteLabel) }))
const readChannelLabel = read(Schema.Struct({ label: Schema.optionalKey(ChannelLabel) }))
const readEmail = read(Schema.Struct({ email: Email }))
const readHolder = read(Schema.Struct({ holder: HolderKey }))
const readDeposit = read(Schema.Struct({ holder: HolderKey, grant: Grant }))
const readRoom = read(Schema.Struct({ operator_pubkey: NewOperatorKey, holders: Schema.Array(NewHolderKey) }))

const home = "/portal/channels"
/** The page of the channel at the tab on which the form stands. */
const back = ({ at }: Submission, tab?: "invitations" | "settings"): `/portal/${string}` =>
  `${home}/${encodeURIComponent(at("channel"))}${tab === undefined ? "" : `?tab=${tab}`}`

type Run = (
  sent: Submission,
  channel: ChannelId
) => ReturnType<Submit> | Effect.Effect<Visits.Response, NotChannelOwner>

/** Forms whose page is shown again with what was refused: that of one channel, and the list of all. */
const channelForms = Effect.gen(function* () {
  const pages = yield* ChannelPages.make
  const { channels } = yield* ChannelPages.channelServices

  /** A form of the page of an own channel. */
  const ofChannel =
    (form: string, run: Run): Submit =>
    (sent) =>
      Effect.gen(function* () {
        const channel = yield* ChannelPages.channelFrom(sent.at("channel"))
        yield* hideForeign(channels.requireOwner(sent.caller, channel))
        return yield* run(sent, channel)
      }).pipe(
        Effect.catch((refusal) =>
          refusal instanceof MalformedRequest
            ? pages.one(sent.self, sent.caller, sent.at("channel"), sentBack(sent, form, refusedFields(refusal)))
            : Effect.fail(refusal)
        )
      )

  const ofList =
    (form: string, submit: Submit): Submit =>
    (sent) =>
      submit(sent).pipe(
        Effect.catch((refusal) => {
          const isOfHolders = refusal instanceof RoomSizeOutOfRange || refusal instanceof HolderRepeated
          if (!isOfHolders && !(refusal instanceof MalformedRequest)) return Effect.fail(refusal)
          const refused = isOfHolders ? ["holders"] : refusedFields(refusal)
          return pages.list(sent.self, sent.caller, sentBack(sent, form, refused))
        })
      )

  return { ofChannel, ofList, pages }
})

/** Registers channels and rooms, and ends or rekeys a channel. */
const registryForms = Effect.gen(function* () {
  const { ofChannel, ofList } = yield* channelForms
  const { channels, rooms } = yield* ChannelPages.channelServices
  const random = yield* SecureRandom.SecureRandom
  const fresh = Effect.provideService(freshHex64, SecureRandom.SecureRandom, random)
  return {
    "/portal/channels": ofList("register", (sent) =>
      Effect.gen(function* () {
        const given = filled(sent.form)
        const { operator_pubkey } = yield* readOperator({ operator_pubkey: given["operator_pubkey"] ?? "" })
        const { channel } = yield* readChannel({ channel: given["channel"] ?? (yield* fresh) })
        const { label } = yield* readChannelLabel(given["label"] === undefined ? {} : { label: given["label"] })
        yield* channels.register(sent.caller, new ChannelRegistration({ channel, operator_pubkey }))
        if (label !== undefined) yield* channels.label(sent.caller, channel, label)
        return seeOther(`${home}/${channel}`)
      })
    ),
    "/portal/rooms": ofList("room", (sent) =>
      Effect.gen(function* () {
        const holders = (sent.form["holders"] ?? "").split(/[\s,]+/u).filter((text) => text !== "")
        const room = yield* readRoom({ operator_pubkey: sent.form["operator_pubkey"] ?? "", holders })
        yield* rooms.open(sent.caller, room.operator_pubkey, room.holders)
        return seeOther(`${home}#rooms`)
      })
    ),
    "/portal/channels/:channel/label": ofChannel("label", (sent, channel) =>
      Effect.gen(function* () {
        const { label } = yield* readChannelLabel(filled({ label: sent.form["label"] ?? "" }))
        yield* channels.label(sent.caller, channel, label ?? null)
        return seeOther(back(sent, "settings"))
      })
    ),
    "/portal/channels/:channel/rekey": ofChannel("rekey", (sent, channel) =>
      Effect.gen(function* () {
        const { operator_pubkey } = yield* readOperator({ operator_pubkey: sent.form["operator_pubkey"] ?? "" })
        if (sent.form["confirm_rekey"] === undefined)
          return yield* new MalformedRequest({ errors: [{ path: ["confirm_rekey"], message: "Expected a consent" }] })
        const registration = new ChannelRegistration({ channel, operator_pubkey, confirm_rekey: true })
        yield* channels.register(sent.caller, registration)
        return seeOther(back(sent, "settings"))
      })
    ),
    "/portal/channels/:channel/deregister": ofChannel("deregister", (sent, channel) =>
      sent.form["confirm"] === undefined
        ? Effect.fail(new MalformedRequest({ errors: [{ path: ["confirm"], message: "Expected a consent" }] }))
        : Effect.as(channels.deregister(sent.caller, channel), seeOther(home))
    )
  } satisfies Readonly<Record<string, Submit>>
})

/** Members of a channel, who may become one, and their grants. */
const memberForms = Effect.gen(function* () {
  const { ofChannel } = yield* channelForms
  const { allowLists, members } = yield* ChannelPages.channelServices
  return {
    "/portal/channels/:channel/members": ofChannel("member", (sent, channel) =>
      Effect.gen(function* () {
        yield* members.add(sent.caller, channel, yield* readMaterial(sent.form))
        return seeOther(back(sent))
      })
    ),
    "/portal/channels/:channel/members/:holder/remove": ofChannel("member", (sent, channel) =>
      Effect.gen(function* () {
        const { holder } = yield* readHolder({ holder: sent.at("holder") })
        yield* members.remove(sent.caller, { channel, holder })
        return seeOther(back(sent))
      })
    ),
    "/portal/channels/:channel/allowlist": ofChannel("allow", (sent, channel) =>
      Effect.gen(function* () {
        const { email } = yield* readEmail({ email: (sent.form["email"] ?? "").trim() })
        yield* allowLists.allow(sent.caller, channel, email)
        return seeOther(back(sent, "invitations"))
      })
    ),
    "/portal/channels/:channel/allowlist/:email/remove": ofChannel("allow", (sent, channel) =>
      Effect.gen(function* () {
        const { email } = yield* readEmail({ email: sent.at("email") })
        yield* allowLists.disallow(sent.caller, channel, email)
        return seeOther(back(sent, "invitations"))
      })
    ),
    "/portal/channels/:channel/grants": ofChannel("grant", (sent, channel) =>
      Effect.gen(function* () {
        const { grant, holder } = yield* readDeposit(sent.form)
        yield* members.depositGrant(sent.caller, { channel, holder }, grant)
        return seeOther(back(sent))
      })
    )
  } satisfies Readonly<Record<string, Submit>>
})

/** Claims of memberships, and the invites and links that lead to them. */
const claimForms = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const { ofChannel, pages } = yield* channelForms
  const { claims, invites } = yield* ChannelPages.channelServices
  const bootstraps = yield* Bootstraps
  return {
    "/portal/channels/:channel/claim-invites": ofChannel("invite", (sent, channel) =>
      Effect.gen(function* () {
        const material = yield* readMaterial(sent.form)
        const { label } = yield* readLabel(sent.form["label"] === "" ? {} : { label: sent.form["label"] })
        const minted = yield* Effect.catchTag(
          invites.mint(sent.caller, channel, { material, label, key: undefined }),
          "IdempotencyKeyReused",
          Effect.die
        )
        const { texts } = sent.self.reader
        const page = OncePage.page(texts, {
          title: texts.inviteTitle,
          detail: texts.inviteOnce,
          shown: minted.url,
          back: back(sent, "invitations"),
          area: "channels"
        })
        return show(sent.self, page)
      })
    ),
    // The script of the page sends what it has sealed; the key of the link stays in the browser.
    "/portal/channels/:channel/join-links": ofChannel("line", (sent) =>
      Effect.gen(function* () {
        const { secret } = yield* readSecret(sent.form)
        const minted = yield* Effect.catchTag(
          bootstraps.mint(secret, joinLinkSeconds, undefined, sent.caller.subject),
          "IdempotencyKeyReused",
          Effect.die
        )
        return HttpServerResponse.jsonUnsafe({
          token: Redacted.value(minted.token),
          expires_in_secs: joinLinkSeconds
        })
      })
    ),
    "/portal/claim/confirm": ({ caller, form }) =>
      Effect.as(
        invites.confirm(caller, Redacted.make(form["invite"] ?? "")),
        seeOther("/portal/channels?notice=claimed")
      ),
    // What became of a claim is said on a page, also when it was refused.
    "/portal/channels/:channel/claim-form": (sent) => {
      const { texts } = sent.self.reader
      const messagePage = (title: string, detail: string) =>
        show(sent.self, ProblemPage.page({ title, detail, links: [{ href: home, text: texts.back }] }))
      return Effect.gen(function* () {
        yield* claims.requireEmail(sent.caller)
        const { channel } = yield* readChannel({ channel: sent.at("channel") })
        const { account_proof, ...fields } = sent.form
        const isProved = account_proof !== undefined && account_proof.trim() !== ""
        yield* claims.claim(sent.caller, channel, yield* readClaim(isProved ? { ...fields, account_proof } : fields))
        return messagePage(texts.claimedTitle, texts.claimedText)
      }).pipe(
        Effect.catchTag("MalformedRequest", (refusal) =>
          pages.claiming(sent.self, sent.caller, sent.at("channel"), sentBack(sent, "claim", refusedFields(refusal)))
        ),
        Effect.catch((refusal) =>
          refusal instanceof ChannelNotFound
            ? Effect.fail(refusal)
            : Effect.succeed(messagePage(...problemTexts(texts, refusal)))
        )
      )
    }
  } satisfies Readonly<Record<string, Submit>>
})

export const make = Effect.gen(function* () {
  return { ...(yield* registryForms), ...(yield* memberForms), ...(yield* claimForms) }
})
