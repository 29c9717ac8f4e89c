/** Handlers of the `invitations` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Invitations } from "../channels/Invitations.ts"

export const InvitationHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "invitations",
  Effect.fn(function* (handlers) {
    const invitations = yield* Invitations
    return handlers.handleAll({
      challenge: () => Effect.map(invitations.challenge(), (challenge) => ({ challenge })),
      redeem: ({ payload }) => invitations.redeem(payload)
    })
  })
)
