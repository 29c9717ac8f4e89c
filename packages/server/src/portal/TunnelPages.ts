/** The pages and the plain forms of tunnels: list, creation, one tunnel, its name, its login switch, its end. */
import { type Installation, type Tunnel, TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import type { Caller } from "@catenet/domain/api/Access"
import * as Base64 from "@catenet/crypto/Base64"
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Bytes from "@catenet/crypto/Bytes"
import { TunnelIdInPath } from "@catenet/domain/values/Ids"
import { Effect, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServerRequest } from "effect/http"
import { Bootstraps } from "../enrollment/Bootstraps.ts"
import { Limits } from "../http/Limits.ts"
import { freshHex32, tokenBytes } from "../runtime/Secrets.ts"
import { AccessWindows } from "../tunnels/AccessWindows.ts"
import { ShareLinks } from "../tunnels/ShareLinks.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { Alerts } from "../tunnels/alerts/Alerts.ts"
import { Badges } from "../tunnels/records/Badges.ts"
import { Records } from "../tunnels/records/Records.ts"
import { read, seeOther, type Submission } from "./Forms.ts"
import * as ConnectPage from "./pages/ConnectPage.ts"
import * as DeleteTunnelPage from "./pages/DeleteTunnelPage.ts"
import * as TunnelPage from "./pages/TunnelPage.ts"
import * as TunnelsPage from "./pages/TunnelsPage.ts"
import { Settings } from "../settings/Settings.ts"
import type { Refused } from "./shell/Field.ts"
import { publicAddress } from "./shell/PublicAddress.ts"
import type { Page } from "./shell/Shell.ts"
import type { Member, Response, Visit } from "./shell/Visits.ts"

const idFrom = Schema.decodeSync(TunnelIdInPath)
const readName = read(Schema.Struct({ name: TunnelName }))

/** Entries of one page of the list. */
const perPage = 50
/** Seconds for which a bootstrap token works, and how many an account may make in a minute. */
const bootstrapSeconds = 900
const bootstrapsPerMinute = 10

const home = "/portal/tunnels"

/** Where the list goes on after its last entry, as lists of the API say it. */
const nextOf = (tunnels: ReadonlyArray<Tunnel>) => {
  const last = tunnels.at(-1)
  if (last === undefined || tunnels.length < perPage) return undefined
  const key = JSON.stringify({ createdAt: last.created_at, id: last.id })
  return `${home}?cursor=${Base64.encodeUrl(Bytes.fromText(key))}`
}

export const make = Effect.gen(function* () {
  const tunnels = yield* Tunnels
  const records = yield* Records
  const alerts = yield* Alerts
  const badges = yield* Badges
  const windows = yield* AccessWindows
  const links = yield* ShareLinks
  const bootstraps = yield* Bootstraps
  const limits = yield* Limits
  const { gateHostsPort } = yield* Settings
  const addressOf = ({ hostname }: Tunnel) => (hostname === null ? undefined : publicAddress(hostname, gateHostsPort))
  const random = yield* SecureRandom.SecureRandom
  const fresh = Effect.provideService(freshHex32, SecureRandom.SecureRandom, random)

  type Show = (self: Visit, page: Page, status?: number) => Response

  const list = Effect.fnUntraced(function* ({ reader, request }: Visit, caller: Caller["Service"], refused?: Refused) {
    const cursor = new URL(request.url, "http://localhost").searchParams.get("cursor") ?? undefined
    const page = { limit: perPage, ...(cursor === undefined ? {} : { cursor }) }
    const found = yield* Effect.provideService(tunnels.list(caller, page), HttpServerRequest.HttpServerRequest, request)
    const connected = yield* records.connected(
      caller,
      found.map(({ id }) => id)
    )
    return TunnelsPage.page(reader.texts, {
      tunnels: found,
      connected,
      next: nextOf(found),
      isFirst: cursor === undefined,
      once: yield* fresh,
      refused
    })
  })

  const one = Effect.fnUntraced(function* (
    { reader, request }: Visit,
    caller: Caller["Service"],
    path: string,
    renaming?: Refused
  ) {
    const id = idFrom(path)
    const tunnel = yield* tunnels.get(caller, id)
    if (!tunnel.owned) return TunnelPage.page(reader.texts, tunnel, addressOf(tunnel), undefined)
    const controls = yield* Effect.all(
      {
        connected: records.connected(caller, [id]),
        alert: alerts.get(caller, id).pipe(
          Effect.asSome,
          Effect.catchTag("AlertNotFound", () => Effect.succeedNone)
        ),
        badge: badges.get(caller, id),
        window: windows.get(caller, id),
        links: Effect.provideService(links.list(caller, id, {}), HttpServerRequest.HttpServerRequest, request)
      },
      { concurrency: "unbounded" }
    )
    return TunnelPage.page(
      reader.texts,
      tunnel,
      addressOf(tunnel),
      {
        ...controls,
        alert: Option.getOrUndefined(controls.alert),
        isConnected: controls.connected.get(id) ?? undefined
      },
      renaming
    )
  })

  /** A line for a terminal, with a token that works once. */
  const connect = Effect.fnUntraced(function* ({ reader }: Visit, { at, caller, form }: Submission) {
    const id = idFrom(at("id"))
    const { texts } = reader
    const tunnel = yield* tunnels.get(caller, id)
    const typed = form["port"] ?? "8080"
    const port = /^\d{1,5}$/u.test(typed.trim()) ? Number(typed) : 0
    if (port < 1 || port > 65_535) {
      return { page: ConnectPage.page(texts, tunnel, { refused: { typed, reason: texts.portRefused } }), status: 400 }
    }
    yield* limits.take(`bootstrap ${caller.subject}`, bootstrapsPerMinute)
    const installation: Installation = yield* tunnels.install(caller, id, undefined)
    const secret = Bootstrap.write({
      joinToken: tokenBytes(installation.join_token),
      routingToken: tokenBytes(installation.routing_token)
    })
    const { token } = yield* Effect.catchTag(
      bootstraps.mint(secret, bootstrapSeconds, undefined, caller.subject),
      "IdempotencyKeyReused",
      Effect.die
    )
    const line = ConnectPage.lineOf(installation, Redacted.value(token), port)
    const connected = tunnel.owned ? yield* records.connected(caller, [id]) : undefined
    const facts = {
      line,
      isConnected: connected?.get(id) ?? undefined,
      address: addressOf(tunnel)
    }
    return { page: ConnectPage.page(texts, tunnel, facts), status: 200 }
  })

  return (show: Show) => ({
    pages: {
      list: (self: Member) => Effect.map(list(self, self.caller), (page) => show(self, page)),
      one: (self: Member, id: string) => Effect.map(one(self, self.caller, id), (page) => show(self, page)),
      remove: (self: Member, id: string) =>
        Effect.gen(function* () {
          yield* tunnels.owned(idFrom(id), self.caller)
          return show(self, DeleteTunnelPage.page(self.reader.texts, yield* tunnels.get(self.caller, idFrom(id))))
        }),
      connect: (self: Member, id: string) =>
        Effect.map(tunnels.get(self.caller, idFrom(id)), (tunnel) =>
          show(self, ConnectPage.page(self.reader.texts, tunnel, {}))
        )
    },
    forms: {
      "/portal/tunnels": (self: Visit) => (sent: Submission) => {
        const { caller, form } = sent
        const { texts } = self.reader
        const typed = form["name"] ?? ""
        const again = (status: number, reason: string) =>
          Effect.map(list(self, caller, { typed, reason }), (page) => show(self, page, status))
        // A second click sends the same; another name from the same form is another tunnel.
        const once = /^[0-9a-f]{32}$/u.test(form["once"] ?? "") ? `form ${form["once"]} ${typed}` : undefined
        return readName({ name: typed }).pipe(
          Effect.flatMap(({ name }) => tunnels.create(caller, { name }, once)),
          Effect.as(seeOther(home)),
          Effect.catchTags({
            MalformedRequest: () => again(400, texts.nameRefused),
            TunnelLimitReached: ({ limit }) => again(403, texts.limitReached(limit)),
            HostnameTaken: ({ hostname }) => again(409, texts.hostnameTaken(hostname)),
            IdempotencyKeyReused: Effect.die
          })
        )
      },
      "/portal/tunnels/:id/rename": (self: Visit) => (sent: Submission) =>
        Effect.gen(function* () {
          const id = idFrom(sent.at("id"))
          yield* tunnels.owned(id, sent.caller)
          const { name } = yield* readName({ name: sent.form["name"] ?? "" })
          yield* tunnels.change(sent.caller, id, new TunnelChange({ name }))
          return seeOther(`/portal/tunnels/${id}`)
        }).pipe(
          Effect.catchTag("MalformedRequest", () => {
            const refused = { typed: sent.form["name"] ?? "", reason: self.reader.texts.nameRefused }
            return Effect.map(one(self, sent.caller, sent.at("id"), refused), (page) => show(self, page, 400))
          })
        ),
      "/portal/tunnels/:id/require-login": () => (sent: Submission) => {
        const id = idFrom(sent.at("id"))
        const change = new TunnelChange({ require_login: sent.form["enabled"] !== undefined })
        return Effect.as(tunnels.change(sent.caller, id, change), seeOther(`/portal/tunnels/${id}`))
      },
      "/portal/tunnels/:id/delete": () => (sent: Submission) =>
        Effect.as(tunnels.remove(sent.caller, idFrom(sent.at("id"))), seeOther(home)),
      "/portal/tunnels/:id/install": (self: Visit) => (sent: Submission) =>
        Effect.map(connect(self, sent), ({ page, status }) => show(self, page, status))
    }
  })
})
