/** Handlers of the `admission` group. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { HostnameUnknown } from "@catenet/domain/errors/CertificateAdmission"
import { RouteNotFound } from "@catenet/domain/errors/Requests"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Admissions } from "./Admissions.ts"

export const layer = HttpApiBuilder.group(
  ControlPlaneApi,
  "admission",
  Effect.fnUntraced(function* (handlers) {
    const admissions = yield* Admissions
    return handlers.handleAll({
      admission: ({ params }) => admissions.ask(params),
      issuanceComplete: ({ params }) => admissions.complete(params),
      setChallenge: () => Effect.fail(new HostnameUnknown()),
      clearChallenge: () => Effect.fail(new RouteNotFound())
    })
  })
)
