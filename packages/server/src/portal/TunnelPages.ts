/** Pages of tunnels, and the forms that create, connect, share, rotate and delete one. */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import { connectLineSeconds } from "@catenet/domain/enrollment/Bootstrap"
import { type Tunnel, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Subject } from "@catenet/domain/values/Ids"
import { markup } from "@catenet/platform/Markup"
import { Effect, Redacted, Schema } from "effect"
import { Bootstraps } from "../enrollment/Bootstraps.ts"
import { Limits } from "../http/Limits.ts"
import { Releases } from "../releases/Releases.ts"
import { tokenBytes } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Records } from "../tunnels/records/Records.ts"
import { TokenRotations } from "../tunnels/TokenRotations.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { TunnelSharing } from "../tunnels/TunnelSharing.ts"
import { read, refusedFields, seeOther, sentBack, type Submission, type Submit } from "./Forms.ts"
import * as ConnectPage from "./pages/ConnectPage.ts"
import { ofAll, ofPart, perPage, readQuery } from "./pages/TunnelSelection.ts"
import * as TunnelsPage from "./pages/TunnelsPage.ts"
import { button, field, panel, type Refused, type Sent, valuesOf } from "./shell/Field.ts"
import type { Page } from "./shell/Shell.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"
import * as TunnelDetail from "./TunnelDetail.ts"

/** `/portal/tunnels/:id/grants`: the other accounts that may see a tunnel and connect an agent to it. */
const grantsPage = (
  texts: Texts,
  facts: { readonly tunnel: Tunnel; readonly grantees: ReadonlyArray<Subject>; readonly sent: Sent | undefined }
): Page => {
  const { id, name } = facts.tunnel
  const own = `/portal/tunnels/${id}/grants`
  const rows = facts.grantees.map(
    (grantee) => markup`<tr><th scope="row" class="mono">${grantee}</th>
      <td class="actions">${button(`${own}/${encodeURIComponent(grantee)}/delete`, texts.removeIt, undefined, texts.removeNamed(grantee))}</td></tr>`
  )
  return {
    title: texts.grantsTitle,
    area: "tunnels",
    crumbs: [
      ["/portal/tunnels", texts.tunnels],
      [`/portal/tunnels/${id}`, name]
    ],
    main: markup`<div class="head"><div><h1>${texts.grantsTitle}</h1><p class="lead">${texts.grantsText}</p></div></div>
      ${rows.length === 0 ? markup`<p>${texts.grantsNone}</p>` : markup`<div class="panel list"><table><tbody>${rows}</tbody></table></div>`}
      ${panel(
        texts.grantsAdd,
        markup`<form method="post" action="${own}">
          ${field({ ...valuesOf(texts, facts.sent, "grant")("grantee"), label: texts.grantee, hint: texts.granteeHint })}
          <button>${texts.grantsAdd}</button></form>`
      )}`
  }
}

/** `/portal/tunnels/:id/rotate-token`: asks before a tunnel gets a new routing token. */
const rotateTokenPage = (texts: Texts, { id, name }: Tunnel): Page => ({
  title: texts.rotateTitle,
  area: "tunnels",
  crumbs: [
    ["/portal/tunnels", texts.tunnels],
    [`/portal/tunnels/${id}`, name]
  ],
  main: markup`<h1>${texts.rotateTitle}</h1>
    <form class="panel pad" method="post" action="/portal/tunnels/${id}/rotate-token">
      <p>${texts.rotateText}</p>
      <p class="row"><button class="danger">${texts.rotateTitle}</button>
      <a class="button" href="/portal/tunnels/${id}">${texts.cancel}</a></p>
    </form>`
})

/** `/portal/tunnels/:id/delete`: asks before a tunnel is deleted. */
const deleteTunnelPage = (texts: Texts, { hostname, id, name }: Tunnel): Page => ({
  title: texts.deleteTitle,
  area: "tunnels",
  crumbs: [
    ["/portal/tunnels", texts.tunnels],
    [`/portal/tunnels/${id}`, name]
  ],
  main: markup`<h1>${texts.deleteAsk(hostname ?? name)}</h1>
    <form class="panel pad" method="post" action="/portal/tunnels/${id}/delete">
      <p>${texts.deleteText}</p>
      <p class="row"><button class="danger">${texts.deleteConfirm(hostname ?? name)}</button>
      <a class="button" href="/portal/tunnels/${id}">${texts.cancel}</a></p>
    </form>`
})

const { idFrom } = TunnelDetail
const readNew = read(Schema.Struct({ name: TunnelName, kind: Schema.optionalKey(Schema.Literals(TunnelsPage.kinds)) }))
const readGrantee = read(Schema.Struct({ grantee: Subject }))

/** Bootstrap tokens that an account may make in a minute. */
const bootstrapsPerMinute = 10

const home = "/portal/tunnels"

const dependencies = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const { addressOf, detail } = yield* TunnelDetail.make
  const tunnels = yield* Tunnels
  const sharing = yield* TunnelSharing
  const rotations = yield* TokenRotations
  const records = yield* Records
  const bootstraps = yield* Bootstraps
  const limits = yield* Limits
  const releases = yield* Releases
  return { addressOf, bootstraps, detail, limits, records, releases, rotations, sharing, show, tunnels }
})
type State = Effect.Success<typeof dependencies>

const list = Effect.fnUntraced(function* (
  { records, show, tunnels }: State,
  self: Visits.Visit,
  caller: Submission["caller"],
  status = 200,
  refused?: Refused
) {
  const query = readQuery(self.request.url)
  const { cursor, q } = query
  const found = yield* tunnels.list(caller, { limit: perPage, ...(cursor === undefined ? {} : { cursor }) }, q)
  const ids = found.map(({ id }) => id)
  const { reach, sums } = yield* Effect.all(
    { reach: records.reach(caller, ids), sums: records.sums(caller, ids) },
    { concurrency: 2 }
  )
  const isAll = cursor === undefined && found.length < perPage
  const selection = isAll ? ofAll(found, reach, query) : ofPart(found, query)
  const page = TunnelsPage.page(self.reader.texts, {
    ...selection,
    reach,
    sums,
    query,
    now: yield* unixSeconds,
    refused
  })
  return show(self, page, status)
})

const granting = Effect.fnUntraced(function* (
  { sharing, show, tunnels }: State,
  self: Visits.Visit,
  caller: Submission["caller"],
  path: string,
  sent?: Sent
) {
  const id = idFrom(path)
  const grantees = yield* sharing.grantees(caller, id, {})
  const tunnel = yield* tunnels.get(caller, id)
  return show(self, grantsPage(self.reader.texts, { tunnel, grantees, sent }), sent === undefined ? 200 : 400)
})

/** A line for a terminal, with a token that works once. */
const connect = Effect.fnUntraced(function* (
  { addressOf, bootstraps, limits, records, releases, show, tunnels }: State,
  { at, caller, form, self }: Submission
) {
  const id = idFrom(at("id"))
  const { texts } = self.reader
  const tunnel = yield* tunnels.get(caller, id)
  const typed = form["port"] ?? "8080"
  const origin = ConnectPage.originOf(typed)
  if (origin === undefined)
    return show(self, ConnectPage.page(texts, tunnel, { refused: { typed, reason: texts.portRefused } }), 400)
  const tlsEnd = ConnectPage.tlsEndOf(tunnel, origin, form["tls"])
  if (tlsEnd === undefined) return show(self, ConnectPage.page(texts, tunnel, { asked: origin }))
  yield* limits.take(`bootstrap ${caller.subject}`, bootstrapsPerMinute)
  const installation = yield* tunnels.install(caller, id, undefined)
  const secret = Bootstrap.write({
    joinToken: tokenBytes(installation.join_token),
    routingToken: tokenBytes(installation.routing_token)
  })
  const { token } = yield* Effect.catchTag(
    bootstraps.mint(secret, connectLineSeconds, undefined, caller.subject),
    "IdempotencyKeyReused",
    Effect.die
  )
  const reach = tunnel.owned ? yield* records.reach(caller, [id]) : undefined
  const start = { installation, origin, orders: ConnectPage.isOrdering(tunnel), tlsEnd }
  const line = (command: string) => ConnectPage.lineOf(start, Redacted.value(token), command)
  const installing = yield* releases.installing
  const facts = {
    withNode: line(yield* releases.command),
    withoutNode: installing === undefined ? undefined : ConnectPage.lineWithoutNode(line, installing),
    environment: ConnectPage.environmentOf(start),
    reach: reach?.get(id),
    address: addressOf(tunnel)
  }
  return show(self, ConnectPage.page(texts, tunnel, facts))
})

const ofOwner =
  (
    { tunnels }: State,
    page: (self: Visits.Member, tunnel: Tunnel) => Effect.Effect<Visits.Response>
  ): Visits.MemberPage =>
  (self, at) =>
    Effect.gen(function* () {
      const id = idFrom(at("id"))
      yield* tunnels.owned(id, self.caller)
      return yield* page(self, yield* tunnels.get(self.caller, id))
    })

const first = (state: State, self: Visits.Member) => list(state, self, self.caller)

export const make = Effect.map(dependencies, (state) => ({
  pages: {
    "/portal/tunnels": (self) => first(state, self),
    "/portal/tunnels/:id": (self, at) => state.detail(self, self.caller, at("id")),
    "/portal/tunnels/:id/delete": ofOwner(state, (self, tunnel) =>
      Effect.succeed(state.show(self, deleteTunnelPage(self.reader.texts, tunnel)))
    ),
    "/portal/tunnels/:id/rotate-token": ofOwner(state, (self, tunnel) =>
      Effect.succeed(state.show(self, rotateTokenPage(self.reader.texts, tunnel)))
    ),
    "/portal/tunnels/:id/grants": (self, at) => granting(state, self, self.caller, at("id")),
    "/portal/tunnels/:id/install": (self, at) =>
      Effect.map(state.tunnels.get(self.caller, idFrom(at("id"))), (tunnel) =>
        state.show(self, ConnectPage.page(self.reader.texts, tunnel, {}))
      )
  } satisfies Readonly<Record<string, Visits.MemberPage>>,
  forms: {
    "/portal/tunnels": ({ caller, form, self }) => {
      const { texts } = self.reader
      const typed = form["name"] ?? ""
      const again = (status: number, reason: string) => list(state, self, caller, status, { typed, reason })
      return readNew({ ...form, name: typed }).pipe(
        Effect.flatMap(({ kind = "http", name }) =>
          state.tunnels.create(caller, { name, ...(kind === "tls" ? { kind: "tcp", tls: true } : { kind }) }, undefined)
        ),
        Effect.as(seeOther(home)),
        Effect.catchTags({
          MalformedRequest: () => again(400, texts.nameRefused),
          TunnelLimitReached: ({ limit }) => again(403, texts.limitReached(limit)),
          HostnameTaken: ({ hostname }) => again(409, texts.hostnameTaken(hostname)),
          IdempotencyKeyReused: Effect.die
        })
      )
    },
    "/portal/tunnels/:id/delete": ({ at, caller }) =>
      Effect.as(state.tunnels.remove(caller, idFrom(at("id"))), seeOther(home)),
    "/portal/tunnels/:id/install": (a0) => connect(state, a0),
    "/portal/tunnels/:id/rotate-token": ({ at, caller }) =>
      Effect.as(
        state.rotations.rotate(caller, idFrom(at("id")), undefined),
        seeOther(`/portal/tunnels/${idFrom(at("id"))}/install`)
      ),
    "/portal/tunnels/:id/grants": (sent) =>
      Effect.gen(function* () {
        const id = idFrom(sent.at("id"))
        yield* state.tunnels.owned(id, sent.caller)
        const { grantee } = yield* readGrantee({ grantee: (sent.form["grantee"] ?? "").trim() })
        yield* state.sharing.grant(sent.caller, id, grantee)
        return seeOther(`/portal/tunnels/${id}/grants`)
      }).pipe(
        Effect.catchTag("MalformedRequest", (refusal) =>
          granting(state, sent.self, sent.caller, sent.at("id"), sentBack(sent, "grant", refusedFields(refusal)))
        )
      )
  } satisfies Readonly<Record<string, Submit>>
}))
