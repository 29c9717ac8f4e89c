/**
 * `GET /me/topologies/:id/editor`, for an access token or a session, and the public page of a topology. Both are pages at
 * addresses that the contract gives, beside the JSON routes.
 */
import { Unauthenticated } from "@catenet/domain/identity/AuthenticationErrors"
import type { PublicTopology } from "@catenet/domain/topologies/Topology"
import { NetUuidInPath } from "@catenet/domain/values/Ids"
import { markup } from "@catenet/platform/Markup"
import { Effect, Option, Record, Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import type { BrowserRefusal } from "../http/SameOrigin.ts"
import * as AccountAccess from "../identity/AccountAccess.ts"
import { Topologies } from "../topologies/Topologies.ts"
import * as TopologyFacts from "./live/TopologyFacts.ts"
import { drawing, nameOf } from "./pages/topology/Drawing.ts"
import type { Page } from "./shell/Shell.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"
import * as TopologyDetail from "./TopologyDetail.ts"

/** `/net/:net_uuid`: the agents and links of a topology, for everybody who has the address. It says nothing else. */
const labels: ReadonlyMap<string, string> = new Map()

/** `version`: the name of the state that the page shows. */
const networkPage = (
  texts: Texts,
  { agents, edges, net_uuid, overlay_mode }: PublicTopology,
  version: string
): Page => ({
  title: texts.network,
  main: markup`<div class="head" data-follow="/net/${net_uuid}/events?seen=${version}"><div><h1>${texts.network}</h1>
      <p class="lead">${texts.drawingLabel(agents.length, edges.length)} ${texts.overlayMode}: ${overlay_mode}.</p></div></div>
    <section class="panel pad"><h2>${texts.drawingTitle}</h2>${drawing(texts, { agents, edges, labels }, false)}</section>
    <section class="panel list"><h2>${texts.agentsTitle}</h2><table><tbody>${agents.map(
      ([agent, kind]) => markup`<tr><th scope="row"><code>${agent}</code></th><td>${texts.kinds[kind]}</td></tr>`
    )}</tbody></table></section>
    <section class="panel list"><h2>${texts.linksTitle}</h2><table><tbody>${edges.map(
      ({ a, b }) => markup`<tr><th scope="row">${nameOf(labels, a)} – ${nameOf(labels, b)}</th></tr>`
    )}</tbody></table></section>`
})

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
            networkPage(self.reader.texts, found, TopologyFacts.versionOf(found))
          )
        ),
        Effect.catch((refusal: BrowserRefusal) => refused(self, refusal))
      )
    )
    yield* router.add("GET", "/net/:net_uuid", network)
  })
)
