/** Handlers of the `bridge` group. A grant is read after the check that there is a bridge, so its body is read here. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { readBody } from "@catenet/domain/api/RequestReading"
import { ChannelId, NewGrant } from "@catenet/domain/channels/Channel"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Bridges } from "../channels/Bridges.ts"

const Deposit = Schema.Struct({ channel_id: ChannelId, grant_hex: NewGrant })

export const BridgeHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "bridge",
  Effect.fn(function* (handlers) {
    const bridges = yield* Bridges
    return handlers
      .handle("get", ({ params }) => Caller.use((caller) => bridges.get(caller, params.id)))
      .handle("setMode", ({ params, payload }) =>
        Caller.use((caller) => bridges.setMode(caller, params.id, payload.mode))
      )
      .handleRaw("storeGrant", ({ params }) =>
        Caller.use((caller) =>
          Effect.gen(function* () {
            yield* bridges.admit(caller, params.id)
            const { channel_id: channel, grant_hex: grant } = yield* readBody(Deposit)
            yield* bridges.storeGrant(caller, params.id, { channel, grant })
            return HttpServerResponse.empty({ status: 200 })
          })
        )
      )
      .handle("call", ({ params, payload }) => Caller.use((caller) => bridges.call(caller, params.id, payload)))
  })
)
