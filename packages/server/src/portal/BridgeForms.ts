/** The operator's bridge: its page, the form that lets it in by a grant, and the form that calls one tool. */
import { ToolName } from "@catenet/domain/api/BridgeApi"
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { maxManifestLocation, maxProjectName } from "@catenet/domain/values/Quotas"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { line } from "@catenet/domain/values/Text"
import { Effect, Schema } from "effect"
import { Bridges } from "../channels/Bridges.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { filled, read, refusedFields, seeOther, sentBack, type Submission, type Submit } from "./Forms.ts"
import * as AgentBridgesPage from "./pages/AgentBridgesPage.ts"
import * as OncePage from "./pages/OncePage.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"
import { idFrom } from "./TunnelDetail.ts"

const idOf = ({ at }: Submission) => idFrom(at("id"))
const home = "/portal/agent-bridges"

const readDeposit = read(Schema.Struct({ channel_id: ChannelId, grant_hex: Grant }))
const readCall = read(Schema.Struct({ tool: ToolName, arguments: Schema.optionalKey(Schema.String) }))
/** The agent decides by its own list whether it trusts the manifest. */
const isAddress = (text: string) => URL.canParse(text.trim()) && new URL(text.trim()).protocol === "https:"
const readManifest = read(
  Schema.Struct({
    manifest_location: Schema.String.check(Schema.isMaxLength(maxManifestLocation), Schema.makeFilter(isAddress)),
    project_name: line(maxProjectName)
  })
)
const readJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const bridge = yield* Bridges
  const tunnels = yield* Tunnels

  const answered = ({ self }: Submission, title: string, shown: string) =>
    show(self, OncePage.page(self.reader.texts, { title, detail: self.reader.texts.bridgeAnswer, shown, back: home }))

  /** What went wrong is said as the bridge says it, in English. */
  const failed = ({ self }: Submission, title: string, shown: string) => {
    const { bridgeFailed: detail } = self.reader.texts
    return show(self, OncePage.page(self.reader.texts, { title, detail, shown, isEnglish: true, back: home }))
  }

  const pageOf = Effect.fnUntraced(function* (self: Visits.Visit, caller: Submission["caller"], sent?: Sent) {
    const own = (yield* tunnels.list(caller, {})).filter(({ owned }) => owned)
    const bridged = yield* Effect.forEach(
      own,
      (tunnel) => Effect.map(bridge.get(caller, tunnel.id), (state) => ({ tunnel, state })),
      { concurrency: 4 }
    )
    return show(self, AgentBridgesPage.page(self.reader.texts, bridged, sent), sent === undefined ? 200 : 400)
  })

  const page: Visits.MemberPage = (self) =>
    Effect.catchTag(pageOf(self, self.caller), "BridgeNotConfigured", () =>
      Effect.succeed(show(self, AgentBridgesPage.page(self.reader.texts, undefined, undefined)))
    )

  /** A form whose fields may be refused. A tunnel of another account is not found before that. */
  const ofTunnel =
    (form: AgentBridgesPage.FormName, submit: Submit): Submit =>
    (sent) =>
      Effect.andThen(tunnels.owned(idOf(sent), sent.caller), submit(sent)).pipe(
        Effect.catch((refusal) =>
          refusal instanceof MalformedRequest
            ? pageOf(sent.self, sent.caller, sentBack(sent, `${form} ${idOf(sent)}`, refusedFields(refusal))).pipe(
                // Without a bridge there is no form to give back.
                Effect.catchTag("BridgeNotConfigured", () => Effect.fail(refusal))
              )
            : Effect.fail(refusal)
        )
      )

  const call = (sent: Submission, tool: string, given: Schema.Json) =>
    bridge.call(sent.caller, idOf(sent), { tool, arguments: given }).pipe(
      Effect.map(({ result }) => answered(sent, tool, JSON.stringify(result, undefined, 2))),
      Effect.catchTag("BridgeCallFailed", ({ detail }) => Effect.succeed(failed(sent, tool, detail)))
    )

  const forms = {
    "/portal/tunnels/:id/agent-bridge/grant": ofTunnel("grant", (sent) =>
      Effect.gen(function* () {
        yield* bridge.admit(sent.caller, idOf(sent))
        const { channel_id: channel, grant_hex: grant } = yield* readDeposit(sent.form)
        yield* bridge.storeGrant(sent.caller, idOf(sent), { channel, grant })
        return seeOther(home)
      })
    ),
    "/portal/tunnels/:id/agent-bridge/call": ofTunnel("call", (sent) =>
      Effect.gen(function* () {
        const { arguments: text = "{}", tool } = yield* readCall(filled(sent.form))
        const given = yield* Effect.mapError(
          readJson(text),
          () => new MalformedRequest({ errors: [{ path: ["arguments"], message: "Expected JSON" }] })
        )
        return yield* call(sent, tool, given)
      })
    ),
    "/portal/tunnels/:id/agent-bridge/manifest/install": ofTunnel("manifest", (sent) =>
      Effect.flatMap(readManifest(filled(sent.form)), (manifest) =>
        call(sent, "bridge/manifest-install", { ...manifest, manifest_location: manifest.manifest_location.trim() })
      )
    )
  } satisfies Readonly<Record<string, Submit>>
  return { pages: { "/portal/agent-bridges": page }, forms }
})
