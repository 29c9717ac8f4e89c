/** Forms of the operator's bridge: a grant that lets it in, and a call of one tool. */
import { ToolName } from "@catenet/domain/api/BridgeApi"
import { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Schema } from "effect"
import { Bridges } from "../channels/Bridges.ts"
import { filled, read, seeOther, type Submission, type Submit } from "./Forms.ts"
import * as OncePage from "./pages/OncePage.ts"
import { idFrom } from "./TunnelDetail.ts"
import * as Visits from "./shell/Visits.ts"

const idOf = ({ at }: Submission) => idFrom(at("id"))
const home = "/portal/agent-bridges"

const readDeposit = read(Schema.Struct({ channel_id: ChannelId, grant_hex: Grant }))
const readCall = read(Schema.Struct({ tool: ToolName, arguments: Schema.optionalKey(Schema.String) }))
const readJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const bridge = yield* Bridges

  const answered = ({ self }: Submission, tool: string, shown: string) =>
    show(
      self,
      OncePage.page(self.reader.texts, { title: tool, detail: self.reader.texts.bridgeAnswer, shown, back: home })
    )

  return {
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
})
