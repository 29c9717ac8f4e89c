/** The operator's bridge: its page, the form that lets it in by a grant, and the form that calls one tool. */
import { ToolName } from "@catenet/domain/api/BridgeApi"
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Schema } from "effect"
import { Bridges } from "../channels/Bridges.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { filled, read, seeOther, type Submission, type Submit } from "./Forms.ts"
import * as AgentBridgesPage from "./pages/AgentBridgesPage.ts"
import * as OncePage from "./pages/OncePage.ts"
import * as Visits from "./shell/Visits.ts"
import { idFrom } from "./TunnelDetail.ts"

const idOf = ({ at }: Submission) => idFrom(at("id"))
const home = "/portal/agent-bridges"

const readDeposit = read(Schema.Struct({ channel_id: ChannelId, grant_hex: Grant }))
const readCall = read(Schema.Struct({ tool: ToolName, arguments: Schema.optionalKey(Schema.String) }))
const readJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const bridge = yield* Bridges
  const tunnels = yield* Tunnels

  const answered = ({ self }: Submission, tool: string, shown: string) =>
    show(
      self,
      OncePage.page(self.reader.texts, { title: tool, detail: self.reader.texts.bridgeAnswer, shown, back: home })
    )

  const page: Visits.MemberPage = (self) =>
    Effect.gen(function* () {
      const own = (yield* tunnels.list(self.caller, {})).filter(({ owned }) => owned)
      const bridged = yield* Effect.forEach(
        own,
        (tunnel) => Effect.map(bridge.get(self.caller, tunnel.id), (state) => ({ tunnel, state })),
        { concurrency: 4 }
      )
      return show(self, AgentBridgesPage.page(self.reader.texts, bridged))
    }).pipe(
      Effect.catchTag("BridgeNotConfigured", () =>
        Effect.succeed(show(self, AgentBridgesPage.page(self.reader.texts, undefined)))
      )
    )

  const forms = {
    "/portal/tunnels/:id/agent-bridge/grant": (sent) =>
      Effect.gen(function* () {
        yield* bridge.admit(sent.caller, idOf(sent))
        const { channel_id: channel, grant_hex: grant } = yield* readDeposit(sent.form)
        yield* bridge.storeGrant(sent.caller, idOf(sent), { channel, grant })
        return seeOther(home)
      }),
    "/portal/tunnels/:id/agent-bridge/call": (sent) =>
      Effect.gen(function* () {
        const { arguments: text = "{}", tool } = yield* readCall(filled(sent.form))
        const given = yield* Effect.mapError(
          readJson(text),
          () => new MalformedRequest({ errors: [{ path: ["arguments"], message: "Expected JSON" }] })
        )
        return yield* bridge.call(sent.caller, idOf(sent), { tool, arguments: given }).pipe(
          Effect.map(({ result }) => answered(sent, tool, JSON.stringify(result, undefined, 2))),
          Effect.catchTag("BridgeCallFailed", ({ detail }) => Effect.succeed(answered(sent, tool, detail)))
        )
      })
  } satisfies Readonly<Record<string, Submit>>
  return { pages: { "/portal/agent-bridges": page }, forms }
})
