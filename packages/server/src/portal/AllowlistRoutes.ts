/**
 * `GET /portal/tunnels/:id/login-allowlist`: the list as JSON for the owner's browser. Without a session the answer is
 * 401.
 */
import { Caller } from "@catenet/domain/api/Access"
import { Unauthenticated } from "@catenet/domain/identity/AuthenticationErrors"
import { Effect, Option, Record } from "effect"
import { HttpRouter, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { EmailDomains } from "../identity/EmailDomains.ts"
import { TunnelSharing } from "../tunnels/TunnelSharing.ts"
import * as Visits from "./shell/Visits.ts"
import { idFrom } from "./TunnelDetail.ts"

const path = "/portal/tunnels/:id/login-allowlist"

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { visit } = yield* Visits.make
    const domains = yield* EmailDomains
    const sharing = yield* TunnelSharing
    const list = Effect.gen(function* () {
      const { signedIn } = (yield* visit).reader
      if (signedIn === undefined) return yield* new Unauthenticated()
      const { email, subject } = signedIn
      yield* domains.require({ subject, email, client: undefined })
      const id = Option.getOrElse(Record.get(yield* HttpRouter.params, "id"), () => undefined) ?? ""
      const emails = yield* sharing.visitors(Caller.of({ subject, email, means: "session" }), idFrom(id), {})
      return HttpServerResponse.jsonUnsafe({ emails })
    }).pipe(Effect.catch((refusal) => HttpServerRespondable.toResponse(refusal)))
    yield* router.add("GET", path, list)
  })
)
