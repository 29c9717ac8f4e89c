/** Forms of a tunnel's page: badge, alert, access window, share links, and the agent bridge. */
import { ToolName } from "@catenet/domain/api/BridgeApi"
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { ShareLinkIdInPath, TunnelIdInPath } from "@catenet/domain/values/Ids"
import { ShareLabel, ShareTtl } from "@catenet/domain/tunnels/ShareLink"
import { Effect, Redacted, Schema } from "effect"
import { AccessWindows } from "../tunnels/AccessWindows.ts"
import { Alerts } from "../tunnels/alerts/Alerts.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { Bridges } from "../channels/Bridges.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { readAccessForm } from "./AccessForm.ts"
import { readAlertForm } from "./AlertForm.ts"
import { notice, read, seeOther, type Submission, type Submit } from "./Forms.ts"

const tunnelFrom = Schema.decodeSync(TunnelIdInPath)
const linkFrom = Schema.decodeSync(ShareLinkIdInPath)
const idOf = ({ at }: Submission) => tunnelFrom(at("id"))

const tunnels = "/portal/tunnels"
const bridges = "/portal/agent-bridges"

const readLink = read(
  Schema.Struct({ ttl: ShareTtl, single_use: Schema.optionalKey(Schema.String), label: Schema.optionalKey(ShareLabel) })
)
const readDeposit = read(Schema.Struct({ channel_id: ChannelId, grant_hex: Grant }))
const readCall = read(Schema.Struct({ tool: ToolName, arguments: Schema.optionalKey(Schema.String) }))
const readJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

/** A field that was left empty was not filled in. */
const filled = (form: Submission["form"]) => Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ""))

export const make = Effect.gen(function* () {
  const badges = yield* Badges
  const alerts = yield* Alerts
  const windows = yield* AccessWindows
  const links = yield* ShareLinks
  const bridge = yield* Bridges

  const badge =
    (change: "enable" | "disable"): Submit =>
    (sent) =>
      Effect.as(badges[change](sent.caller, idOf(sent)), seeOther(`/portal/tunnels/${idOf(sent)}/uptime`))

  return {
    "/portal/tunnels/:id/badge/enable": badge("enable"),
    "/portal/tunnels/:id/badge/disable": badge("disable"),
    "/portal/tunnels/:id/alert": (sent) =>
      Effect.map(alerts.save(sent.caller, idOf(sent), readAlertForm(sent.form)), ({ secret }) =>
        secret === undefined
          ? seeOther(tunnels)
          : notice("Alert set", `Its secret, which is shown only now: ${Redacted.value(secret)}`, tunnels)
      ),
    "/portal/tunnels/:id/alert/test": (sent) =>
      Effect.map(alerts.test(sent.caller, idOf(sent)), ({ detail, status }) =>
        status === "ok" ? seeOther(tunnels) : notice("The test message was not delivered", detail, tunnels)
      ),
    "/portal/tunnels/:id/alert/delete": (sent) => Effect.as(alerts.remove(sent.caller, idOf(sent)), seeOther(tunnels)),
    "/portal/tunnels/:id/access": (sent) =>
      Effect.gen(function* () {
        const id = idOf(sent)
        // All other fields are ignored.
        if (sent.form["rearm"] !== undefined) yield* windows.rearm(sent.caller, id)
        else {
          // A tunnel of another account is not found, whatever the form says.
          yield* windows.get(sent.caller, id)
          const policy = yield* Effect.fromResult(readAccessForm(sent.form, yield* unixSeconds))
          yield* windows.save(sent.caller, id, policy)
        }
        return seeOther(tunnels)
      }),
    "/portal/tunnels/:id/access/clear": (sent) => Effect.as(windows.clear(sent.caller, idOf(sent)), seeOther(tunnels)),
    "/portal/tunnels/:id/share-links": (sent) =>
      Effect.gen(function* () {
        const { label, single_use, ttl } = yield* readLink(filled(sent.form))
        const asked = { ttl, single_use: single_use !== undefined, ...(label === undefined ? {} : { label }) }
        const minted = yield* Effect.catchTag(
          links.mint(sent.caller, idOf(sent), asked, undefined),
          "IdempotencyKeyReused",
          Effect.die
        )
        return notice("Share link", `It is shown only now: ${minted.url}`, tunnels)
      }),
    "/portal/tunnels/:id/share-links/:link_id/revoke": (sent) =>
      Effect.as(links.revoke(sent.caller, idOf(sent), linkFrom(sent.at("link_id"))), seeOther(tunnels)),
    "/portal/tunnels/:id/agent-bridge/grant": (sent) =>
      Effect.gen(function* () {
        yield* bridge.admit(sent.caller, idOf(sent))
        const { channel_id: channel, grant_hex: grant } = yield* readDeposit(sent.form)
        yield* bridge.storeGrant(sent.caller, idOf(sent), { channel, grant })
        return seeOther(bridges)
      }),
    "/portal/tunnels/:id/agent-bridge/call": (sent) =>
      Effect.gen(function* () {
        const { arguments: text = "{}", tool } = yield* readCall(filled(sent.form))
        const given = yield* Effect.mapError(
          readJson(text),
          () => new MalformedRequest({ errors: [{ path: ["arguments"], message: "Expected JSON" }] })
        )
        return yield* bridge.call(sent.caller, idOf(sent), { tool, arguments: given }).pipe(
          Effect.map(({ result }) => notice(tool, JSON.stringify(result), bridges)),
          Effect.catchTag("BridgeCallFailed", ({ detail }) => Effect.succeed(notice(tool, detail, bridges)))
        )
      })
  } satisfies Readonly<Record<string, Submit>>
})
