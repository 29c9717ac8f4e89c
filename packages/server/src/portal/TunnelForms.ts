/**
 * Forms of a tunnel's page: name and options, visitors, share links and access window, alert and badge, certificate and
 * agent.
 */
import { switchableOptionNames, switchOption } from "@catenet/domain/edges/TunnelOptions"
import { AlertFormat } from "@catenet/domain/tunnels/AlertFormat"
import type { PortRefused } from "@catenet/domain/tunnels/PortErrors"
import { BridgeMode, TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import type { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { Email } from "@catenet/domain/values/Email"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { ShareLinkIdInPath, Subject } from "@catenet/domain/values/Ids"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Redacted, Schema } from "effect"
import { Bridges } from "../channels/Bridges.ts"
import type { Fields } from "../http/FormBody.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { AccessWindows } from "../tunnels/AccessWindows.ts"
import { Alerts } from "../tunnels/alerts/Alerts.ts"
import { CertificateOptOuts } from "../tunnels/CertificateOptOuts.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { TunnelSharing } from "../tunnels/TunnelSharing.ts"
import { readAccessForm } from "./AccessForm.ts"
import { filled, read, refusedFields, seeOther, sentBack, type Submission, type Submit } from "./Forms.ts"
import * as OncePage from "./pages/OncePage.ts"
import * as SharePanel from "./pages/tunnel/SharePanel.ts"
import * as ProblemPage from "./shell/ProblemPage.ts"
import * as Visits from "./shell/Visits.ts"
import * as TunnelDetail from "./TunnelDetail.ts"

// The form in which an owner sets the alert of a tunnel.

/** The receiver as written, and the threshold: not a number unless it is written in one to five digits. */
export const readAlertForm = (form: Fields) => {
  const minutes = (form["threshold_minutes"] ?? "").trim()
  return {
    webhookUrl: form["webhook_url"] ?? "",
    thresholdMinutes: /^\d{1,5}$/.test(minutes) ? Number(minutes) : Number.NaN,
    format: AlertFormat.literals.find((format) => format === form["format"]),
    token: Redacted.make(form["token"] ?? "")
  }
}

const linkFrom = Schema.decodeSync(ShareLinkIdInPath)
const idOf = ({ at }: Submission) => TunnelDetail.idFrom(at("id"))
const back = (sent: Submission, part = ""): `/portal/${string}` => `/portal/tunnels/${idOf(sent)}${part}`

/** A request for access is answered on the tunnel's page, or on that of all notices. */
const whereAsked = (sent: Submission) =>
  sent.form["back"] === "notices" ? "/portal/notices" : back(sent, "?tab=access#visitors")

const readName = read(Schema.Struct({ name: TunnelName }))
const readHostname = read(Schema.Struct({ hostname: TunnelHostname }))
const readEmail = read(Schema.Struct({ email: Email }))
const readGrantee = read(Schema.Struct({ grantee: Subject }))
const readOption = read(Schema.Struct({ option: Schema.Literals(switchableOptionNames) }))
const readMode = read(Schema.Struct({ mode: BridgeMode }))
const readLink = read(SharePanel.Form)

/** What the forms of a tunnel's page share: the page again with what was refused, and switches. */
const ofTunnelPage = Effect.gen(function* () {
  const { detail } = yield* TunnelDetail.make
  const tunnels = yield* Tunnels

  /** The page of the tunnel again, with what was typed and why it was refused. */
  const again = (sent: Submission, form: string, refused: ReadonlyArray<string>) =>
    detail(sent.self, sent.caller, sent.at("id"), sentBack(sent, form, refused))

  /** A form of the tunnel's page whose fields may be refused. A tunnel of another account is not found before that. */
  const ofPage =
    (form: string, submit: Submit): Submit =>
    (sent) =>
      Effect.andThen(tunnels.owned(idOf(sent), sent.caller), submit(sent)).pipe(
        Effect.catch((refusal) =>
          refusal instanceof MalformedRequest ? again(sent, form, refusedFields(refusal)) : Effect.fail(refusal)
        )
      )

  const switched =
    (
      part: string,
      set: (sent: Submission, isOn: boolean) => Effect.Effect<unknown, MalformedRequest | PortRefused | TunnelNotFound>
    ): Submit =>
    (sent) =>
      Effect.as(set(sent, sent.form["enabled"] !== undefined), seeOther(back(sent, part)))

  return { again, ofPage, switched, tunnels }
})

/** The name of a tunnel, and its options. */
const optionForms = Effect.gen(function* () {
  const { ofPage, switched, tunnels } = yield* ofTunnelPage

  return {
    "/portal/tunnels/:id/rename": ofPage("rename", (sent) =>
      readName({ name: sent.form["name"] ?? "" }).pipe(
        Effect.flatMap(({ name }) => tunnels.change(sent.caller, idOf(sent), new TunnelChange({ name }))),
        Effect.as(seeOther(back(sent, "?tab=settings")))
      )
    ),
    "/portal/tunnels/:id/require-login": switched("?tab=access#visitors", (sent, isOn) =>
      tunnels.change(sent.caller, idOf(sent), new TunnelChange({ require_login: isOn }))
    ),
    "/portal/tunnels/:id/allow-any-login": switched("?tab=access#visitors", (sent, isOn) =>
      tunnels.change(sent.caller, idOf(sent), new TunnelChange({ allow_any_login: isOn }))
    ),
    "/portal/tunnels/:id/unproved-agents": switched("?tab=agents", (sent, isOn) =>
      tunnels.change(sent.caller, idOf(sent), new TunnelChange({ allow_unproved_agents: isOn }))
    ),
    "/portal/tunnels/:id/options/:option": switched("?tab=access#visitors", (sent, isOn) =>
      Effect.flatMap(readOption({ option: sent.at("option") }), ({ option }) =>
        tunnels.change(sent.caller, idOf(sent), new TunnelChange(switchOption(option, isOn)))
      )
    )
  } satisfies Readonly<Record<string, Submit>>
})

/** Who may visit and use it. */
const visitorForms = Effect.gen(function* () {
  const { ofPage, tunnels } = yield* ofTunnelPage
  const sharing = yield* TunnelSharing
  return {
    "/portal/tunnels/:id/login-allowlist": ofPage("visitor", (sent) =>
      readEmail({ email: (sent.form["email"] ?? "").trim() }).pipe(
        Effect.flatMap(({ email }) => sharing.allowVisitor(sent.caller, idOf(sent), email)),
        Effect.as(seeOther(whereAsked(sent)))
      )
    ),
    "/portal/tunnels/:id/login-allowlist/:email/remove": (sent) =>
      Effect.gen(function* () {
        yield* tunnels.owned(idOf(sent), sent.caller)
        const { email } = yield* readEmail({ email: sent.at("email") })
        yield* sharing.disallowVisitor(sent.caller, idOf(sent), email)
        return seeOther(back(sent, "?tab=access#visitors"))
      }),
    "/portal/tunnels/:id/access-requests/:email/dismiss": (sent) =>
      Effect.gen(function* () {
        yield* tunnels.owned(idOf(sent), sent.caller)
        const { email } = yield* readEmail({ email: sent.at("email") })
        yield* sharing.dismiss(sent.caller, idOf(sent), email)
        return seeOther(whereAsked(sent))
      }),
    "/portal/tunnels/:id/grants/:grantee/delete": (sent) =>
      tunnels.owned(idOf(sent), sent.caller).pipe(
        Effect.andThen(readGrantee({ grantee: sent.at("grantee") })),
        Effect.flatMap(({ grantee }) => sharing.ungrant(sent.caller, idOf(sent), grantee)),
        Effect.as(seeOther(back(sent, "/grants")))
      )
  } satisfies Readonly<Record<string, Submit>>
})

/** Its certificate, the proof of its name, and its agent. */
const agentForms = Effect.gen(function* () {
  const { ofPage, switched, tunnels } = yield* ofTunnelPage
  const bridge = yield* Bridges
  const optOuts = yield* CertificateOptOuts
  return {
    "/portal/tunnels/:id/reclaim-cert-slot": (sent) =>
      Effect.as(tunnels.reclaim(sent.caller, idOf(sent)), seeOther(back(sent, "?tab=certificate#certificate"))),
    "/portal/tunnels/:id/cert-claim-opt-out": switched("?tab=certificate#certificate", (sent, isOn) =>
      optOuts.set(sent.caller, idOf(sent), isOn)
    ),
    "/portal/tunnels/:id/hostname": ofPage("hostname", (sent) =>
      readHostname({ hostname: (sent.form["hostname"] ?? "").trim() }).pipe(
        Effect.flatMap(({ hostname }) => tunnels.setHostname(sent.caller, idOf(sent), hostname)),
        Effect.as(seeOther(back(sent, "?tab=settings#domain")))
      )
    ),
    "/portal/tunnels/:id/hostname/remove": (sent) =>
      Effect.as(tunnels.setHostname(sent.caller, idOf(sent), null), seeOther(back(sent, "?tab=settings#domain"))),
    "/portal/tunnels/:id/verify-hostname": (sent) =>
      Effect.as(tunnels.verifyHostname(sent.caller, idOf(sent)), seeOther(back(sent, "?tab=settings#domain"))),
    "/portal/tunnels/:id/agent-bridge": ofPage("bridge", (sent) =>
      readMode({ mode: sent.form["mode"] ?? "" }).pipe(
        Effect.flatMap(({ mode }) => bridge.setMode(sent.caller, idOf(sent), mode)),
        Effect.as(seeOther(back(sent, "?tab=settings#bridge")))
      )
    )
  } satisfies Readonly<Record<string, Submit>>
})

/** Its badge and its alert. */
const alertForms = Effect.gen(function* () {
  const { again, ofPage } = yield* ofTunnelPage
  const { show } = yield* Visits.make
  const badges = yield* Badges
  const alerts = yield* Alerts

  const badge =
    (change: "enable" | "disable"): Submit =>
    (sent) =>
      Effect.as(badges[change](sent.caller, idOf(sent)), seeOther(back(sent, "/uptime")))

  return {
    "/portal/tunnels/:id/badge/enable": badge("enable"),
    "/portal/tunnels/:id/badge/disable": badge("disable"),

    "/portal/tunnels/:id/alert": ofPage("alert", (sent) => {
      const { texts } = sent.self.reader
      return alerts.save(sent.caller, idOf(sent), readAlertForm(sent.form)).pipe(
        Effect.map(({ secret }) =>
          secret === undefined
            ? seeOther(back(sent, "?tab=settings#alert"))
            : show(
                sent.self,
                OncePage.page(texts, {
                  title: texts.alertSet,
                  detail: texts.alertSecret,
                  shown: Redacted.value(secret),
                  back: back(sent, "?tab=settings#alert"),
                  area: "tunnels"
                })
              )
        ),
        Effect.catchTag("AlertRefused", ({ field }) => again(sent, "alert", [field]))
      )
    }),
    "/portal/tunnels/:id/alert/test": (sent) =>
      Effect.map(alerts.test(sent.caller, idOf(sent)), (delivery) => {
        const { texts } = sent.self.reader
        const link = { href: back(sent, "?tab=settings#alert"), text: texts.back }
        return delivery.status === "ok"
          ? seeOther(back(sent, "?tab=settings#alert"))
          : show(
              sent.self,
              ProblemPage.page({
                title: texts.alertUndelivered,
                detail: texts.deliveryDetail(delivery.detail),
                links: [link]
              })
            )
      }),
    "/portal/tunnels/:id/alert/delete": (sent) =>
      Effect.as(alerts.remove(sent.caller, idOf(sent)), seeOther(back(sent, "?tab=settings#alert")))
  } satisfies Readonly<Record<string, Submit>>
})

/** When it is open, and links to it. */
const accessForms = Effect.gen(function* () {
  const { again, ofPage } = yield* ofTunnelPage
  const { show } = yield* Visits.make
  const windows = yield* AccessWindows
  const links = yield* ShareLinks
  return {
    "/portal/tunnels/:id/access": ofPage("access", (sent) =>
      Effect.gen(function* () {
        const id = idOf(sent)
        // All other fields are ignored.
        if (sent.form["rearm"] !== undefined) yield* windows.rearm(sent.caller, id)
        else {
          const policy = yield* Effect.fromResult(readAccessForm(sent.form, yield* unixSeconds))
          yield* windows.save(sent.caller, id, policy)
        }
        return seeOther(back(sent, "?tab=access#access"))
      }).pipe(Effect.catchTag("AccessRefused", ({ field }) => again(sent, "access", [field])))
    ),
    "/portal/tunnels/:id/access/clear": (sent) =>
      Effect.as(windows.clear(sent.caller, idOf(sent)), seeOther(back(sent, "?tab=access#access"))),

    "/portal/tunnels/:id/share-links": ofPage("share", (sent) =>
      Effect.gen(function* () {
        const { single_use, ...rest } = yield* readLink(filled(sent.form))
        const asked = { ...rest, single_use: single_use !== undefined }
        const minted = yield* Effect.catchTag(
          links.mint(sent.caller, idOf(sent), asked, undefined),
          "IdempotencyKeyReused",
          Effect.die
        )
        const { texts } = sent.self.reader
        const page = OncePage.page(texts, {
          title: texts.shareTitle,
          detail: texts.shareOnce,
          shown: minted.url,
          back: back(sent, "?tab=access#share"),
          area: "tunnels"
        })
        return show(sent.self, page)
      })
    ),
    "/portal/tunnels/:id/share-links/:link_id/revoke": (sent) =>
      Effect.as(
        links.revoke(sent.caller, idOf(sent), linkFrom(sent.at("link_id"))),
        seeOther(back(sent, "?tab=access#share"))
      )
  } satisfies Readonly<Record<string, Submit>>
})

export const make = Effect.gen(function* () {
  return {
    ...(yield* optionForms),
    ...(yield* visitorForms),
    ...(yield* agentForms),
    ...(yield* alertForms),
    ...(yield* accessForms)
  }
})
