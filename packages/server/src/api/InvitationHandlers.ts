/** Handlers of the `invitations` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Invitations } from "../channels/Invitations.ts"
import { ClientAddresses } from "../http/ClientAddresses.ts"

export const InvitationHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "invitations",
  Effect.fn(function* (handlers) {
    const invitations = yield* Invitations
    const { budgetKey } = yield* ClientAddresses
    return handlers.handleAll({
      challenge: ({ request }) => Effect.map(invitations.challenge(budgetKey(request)), (challenge) => ({ challenge })),
      redeem: ({ payload }) => invitations.redeem(payload)
    })
  })
)
