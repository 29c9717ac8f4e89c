/**
 * `GET` and `POST /gate/share`: a visitor follows a share link. A link of a single use is spent by the button of a page
 * where a browser follows it, so that what looks at links before people do (previews of messengers, mail scanners,
 * prefetching browsers) spends none. A program that wants no page is taken at its word: its GET spends the link.
 */
import { GateNotConfigured, HostNotGated, type ShareLinkRefused } from "@catenet/domain/tunnels/GateErrors"
import { Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../http/ClientAddresses.ts"
import { fields } from "../http/FormBody.ts"
import * as FormDeduplication from "../http/FormDeduplication.ts"
import { Limits } from "../http/Limits.ts"
import { refuse, show, textsOf } from "../portal/shell/VisitorPages.ts"
import { freshHex32 } from "../runtime/TokenSecrets.ts"
import { Settings } from "../settings/Settings.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { addressAt, queryOf, readHost, withSession } from "./GateBrowser.ts"
import * as Page from "./GatePage.ts"

export const path = "/gate/share"

/** What says in its name that it looks at links for others. Most of these ask for anything, as programs do. */
const previewer =
  /bot\b|bot\/|crawl|spider|preview|prefetch|scan|facebookexternalhit|facebot|whatsapp|slack|telegram|discord|skype|viber|signal|mattermost|rocket\.chat|synapse|mastodon|iframely|embedly|inspection/iu

/** Whether a GET may come from a program that looks at the link and does not mean to use it up. */
const mayBePreview = (headers: Readonly<Record<string, string | undefined>>) =>
  /\btext\/html\b/iu.test(headers["accept"] ?? "") ||
  headers["sec-fetch-mode"] === "navigate" ||
  (headers["sec-purpose"] ?? headers["purpose"] ?? headers["x-purpose"] ?? headers["x-moz"]) !== undefined ||
  previewer.test(headers["user-agent"] ?? "")

interface Followed {
  readonly host: string | null | undefined
  readonly token: string | null | undefined
  readonly back: string | null | undefined
  readonly spends: boolean
}

const follow = Effect.gen(function* () {
  const links = yield* ShareLinks
  const { gateHostsPort: port } = yield* Settings
  const fresh = Effect.provideService(freshHex32, SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
  return Effect.fnUntraced(function* ({ back, host: named, spends, token }: Followed) {
    const read = readHost(named)
    if (Option.isNone(read)) return yield* new HostNotGated()
    const host = read.value
    const found = yield* links.redeem(host, Redacted.make(token ?? ""), spends)
    const wanted = back ?? "/"
    if (Option.isNone(found)) {
      const texts = textsOf(yield* HttpServerRequest.HttpServerRequest)
      return show(
        texts,
        Page.share(texts, { host, token: token ?? "", back: wanted, action: path, once: yield* fresh }),
        { isGate: true }
      )
    }
    const { seconds, session } = found.value
    return HttpServerResponse.redirect(addressAt({ host, port }, wanted), { status: 303 }).pipe(
      withSession(session, seconds)
    )
  })
})

/** The link led to a host that asks its visitors to sign in: who may, can still enter there. */
const ended = (
  request: HttpServerRequest.HttpServerRequest,
  refusal: ShareLinkRefused,
  named: string | null | undefined
) =>
  Option.match(readHost(named), {
    onNone: () => refuse(request, refusal),
    onSome: (host) =>
      refuse(
        request,
        refusal,
        [(texts) => ({ href: `/gate/request-access?host=${host}`, text: texts.accessTitle })],
        host
      )
  })

export const share = Effect.gen(function* () {
  const followed = yield* follow
  const { gateCookieDomain } = yield* Settings
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (gateCookieDomain === undefined) return yield* refuse(request, new GateNotConfigured())
    // A program that only wants to know whether the link leads anywhere must not use it up.
    if (request.method === "HEAD") return HttpServerResponse.empty({ status: 204 })
    const query = queryOf(request.url)
    const [host, token, back] = [query.get("host"), query.get("token"), query.get("return")]
    return yield* followed({ host, token, back, spends: !mayBePreview(request.headers) }).pipe(
      Effect.catchTag("HostNotGated", (refusal) => refuse(request, refusal)),
      Effect.catchTag("ShareLinkRefused", (refusal) => ended(request, refusal, host))
    )
  })
})

/**
 * The button of the page. The token is all that counts, and no cookie, so it may come from anywhere. A second click gives
 * up the answer to the first, which spent the link, and gets the same.
 */
export const spend = Effect.gen(function* () {
  const followed = yield* follow
  const once = yield* FormDeduplication.make
  const { anonymousWritesPerMinute, gateCookieDomain } = yield* Settings
  const { budgetKey } = yield* ClientAddresses
  const limits = yield* Limits
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (gateCookieDomain === undefined) return yield* refuse(request, new GateNotConfigured())
    return yield* limits.take(`share ${budgetKey(request)}`, anonymousWritesPerMinute).pipe(
      Effect.andThen(fields),
      Effect.flatMap((sent) => {
        const { host, return: back, token } = sent
        return once({ sender: token ?? "", path, fields: sent }, followed({ host, token, back, spends: true })).pipe(
          Effect.catchTag("ShareLinkRefused", (refusal) => ended(request, refusal, host))
        )
      }),
      Effect.catchTag(
        ["BodyTooLarge", "FormSentBefore", "HostNotGated", "RateLimited", "UnsupportedMediaType", "WrongShape"],
        (refusal) => refuse(request, refusal)
      )
    )
  })
})
