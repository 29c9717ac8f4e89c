/** Handlers of the `invitations` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Handlers from "../http/Handlers.ts"
import { Invitations } from "../channels/Invitations.ts"

export const layer = Handlers.layer(
  Effect.gen(function* () {
    const invitations = yield* Invitations
    return HttpApiBuilder.group(ControlPlaneApi, "invitations", (handlers) =>
      handlers.handleAll({
        challenge: () => Effect.map(invitations.challenge(), (challenge) => ({ challenge })),
        redeem: ({ payload }) => invitations.redeem(payload)
      })
    )
  })
)
