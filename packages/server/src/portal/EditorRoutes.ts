/**
 * `GET /me/topologies/:id/editor`, for an access token or a session, and the public page of a topology. Both are pages at
 * addresses that the contract gives, beside the JSON routes.
 */
import { Unauthenticated } from "@catenet/domain/identity/AuthenticationErrors"
import { NetUuidInPath } from "@catenet/domain/values/Ids"
import { Effect, Option, Record, Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import type { ExtraRoutes } from "../http/AllowedMethods.ts"
import type { BrowserRefusal } from "../http/BrowserRefusal.ts"
import * as AccountAccess from "../identity/AccountAccess.ts"
import { Topologies } from "../topologies/Topologies.ts"
import * as TopologyFacts from "./live/TopologyFacts.ts"
import * as NetworkPage from "./pages/topology/NetworkPage.ts"
import * as Visits from "./shell/Visits.ts"
import * as TopologyDetail from "./TopologyDetail.ts"

export const addresses: ExtraRoutes = [
  ["GET", "/me/topologies/:id/editor"],
  ["GET", "/net/:net_uuid"]
]

const netFrom = Schema.decodeSync(NetUuidInPath)

const parameter = (name: string) =>
  Effect.map(HttpRouter.params, (params) => Option.getOrUndefined(Record.get(params, name)) ?? "")

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { refused, show, visit } = yield* Visits.make
    const access = yield* AccountAccess.make
    const topologies = yield* Topologies
    const detail = yield* TopologyDetail.make

    const callerOf = ({ request, token }: Visits.Visit) => {
      const bearer = /^bearer (.+)$/iu.exec(request.headers["authorization"] ?? "")?.[1]
      return access.present(
        bearer !== undefined
          ? access.bearer(Redacted.make(bearer))
          : Redacted.value(token) === ""
            ? Effect.fail(new Unauthenticated())
            : access.session(token)
      )
    }

    const editor = Effect.flatMap(visit, (self) =>
      Effect.gen(function* () {
        const caller = yield* callerOf(self)
        // The page is for the owner of the token, not for that of a cookie beside it.
        const reader =
          caller.means === "bearer" ? { ...self.reader, signedIn: caller, isOperator: false, notices: 0 } : self.reader
        return yield* detail({ ...self, reader }, caller, yield* parameter("id"))
      }).pipe(Effect.catch((refusal: BrowserRefusal) => refused(self, refusal)))
    )
    yield* router.add("GET", "/me/topologies/:id/editor", editor)

    const network = Effect.flatMap(visit, (self) =>
      Effect.flatMap(parameter("net_uuid"), (netUuid) => topologies.published(netFrom(netUuid))).pipe(
        // Everybody sees the same page.
        Effect.map((found) =>
          show(
            { ...self, reader: { ...self.reader, signedIn: undefined } },
            NetworkPage.page(self.reader.texts, found, TopologyFacts.versionOf(found))
          )
        ),
        Effect.catch((refusal: BrowserRefusal) => refused(self, refusal))
      )
    )
    yield* router.add("GET", "/net/:net_uuid", network)
  })
)
