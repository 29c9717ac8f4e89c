/** Who else has something to do with a tunnel: grantees who may see it, visitors who pass its gate, and those who asked. */
import type { Caller } from "@catenet/domain/api/Access"
import { AccessRequest } from "@catenet/domain/api/TunnelsApi"
import { GrantNotFound, type TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Email } from "@catenet/domain/values/Email"
import { maxGrantsPerTunnel, maxVisitorsPerTunnel } from "@catenet/domain/values/Quotas"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import type { Subject } from "@catenet/domain/values/Subject"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { insertWithinQuota } from "../store/InsertWithinQuota.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { LoginOrders } from "./LoginOrders.ts"
import { Tunnels } from "./Tunnels.ts"
import * as Store from "./TunnelSharingStore.ts"

type Account = Caller["Service"]

export class TunnelSharing extends Context.Service<
  TunnelSharing,
  {
    readonly grant: (
      account: Account,
      id: string,
      grantee: Subject
    ) => Effect.Effect<void, LimitReached | TunnelNotFound>
    readonly ungrant: (
      account: Account,
      id: string,
      grantee: Subject
    ) => Effect.Effect<void, GrantNotFound | TunnelNotFound>
    readonly grantees: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Subject>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    readonly allowVisitor: (
      account: Account,
      id: string,
      email: Email
    ) => Effect.Effect<void, LimitReached | TunnelNotFound>
    readonly disallowVisitor: (account: Account, id: string, email: Email) => Effect.Effect<void, TunnelNotFound>
    readonly visitors: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Email>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    readonly accessRequests: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<ReadonlyArray<AccessRequest>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    readonly dismiss: (
      account: Account,
      id: string,
      email: Email
    ) => Effect.Effect<void, GrantNotFound | TunnelNotFound>
  }
>()("server/tunnels/TunnelSharing") {
  static readonly make = Effect.gen(function* () {
    const tunnels = yield* Tunnels
    const audits = yield* Audits
    const keys = yield* AgentKeys
    const logins = yield* LoginOrders
    const store = yield* Store.make

    /** Everything here belongs to the owner of the tunnel. */
    const asOwner = <A, E, R>(account: Account, id: string, use: Effect.Effect<A, E, R>) =>
      Effect.andThen(tunnels.owned(id, account), Effect.orDie(use))

    /** A page of a list, whose entries go by a name. */
    const listed =
      <A, E>(list: (slice: Store.Slice) => Effect.Effect<ReadonlyArray<A>, E>, name: (entry: A) => string) =>
      (account: Account, id: string, page: Page) =>
        asOwner(account, id, pagedOf(page, id, list, name))
    const grantees = listed(store.grantees, ({ grantee }) => grantee)
    const visitors = listed(store.visitors, ({ email }) => email)
    const requests = listed(store.requests, ({ email }) => email)

    const found = (removed: ReadonlyArray<unknown>) => (removed.length === 0 ? new GrantNotFound() : Effect.void)

    /** Who may see or visit a tunnel is changed in one transaction with the entry that says so. */
    const recorded = <E, R>(
      action: string,
      account: Account,
      id: string,
      whom: string,
      change: Effect.Effect<void, E, R>
    ) =>
      Effect.andThen(change, audits.append(audit(action, account.subject, id, whom))).pipe(store.transaction, sqlOrDie)

    return {
      grant: (account: Account, id: string, grantee: Subject) =>
        recorded(
          "tunnel_granted",
          account,
          id,
          grantee,
          Effect.flatMap(
            asOwner(account, id, Effect.andThen(store.lock(id), store.grant(id, grantee))),
            insertWithinQuota("grants of this tunnel", maxGrantsPerTunnel)
          )
        ),
      ungrant: (account: Account, id: string, grantee: Subject) =>
        recorded(
          "tunnel_ungranted",
          account,
          id,
          grantee,
          Effect.flatMap(asOwner(account, id, keys.endGrants(grantee, id)), found)
        ),
      grantees: (account: Account, id: string, page: Page) =>
        Effect.map(grantees(account, id, page), (rows) => rows.map(({ grantee }) => grantee)),
      allowVisitor: (account: Account, id: string, email: Email) =>
        recorded(
          "tunnel_visitor_allowed",
          account,
          id,
          email,
          Effect.flatMap(
            asOwner(account, id, Effect.andThen(store.lock(id), store.admit(id, email))),
            insertWithinQuota("visitors of this tunnel", maxVisitorsPerTunnel)
          )
        ),
      disallowVisitor: (account: Account, id: string, email: Email) =>
        recorded(
          "tunnel_visitor_disallowed",
          account,
          id,
          email,
          Effect.asVoid(asOwner(account, id, Effect.andThen(store.turnAway(id, email), logins.tunnelChanged(id))))
        ),
      visitors: (account: Account, id: string, page: Page) =>
        Effect.map(visitors(account, id, page), (rows) => rows.map(({ email }) => email)),
      accessRequests: (account: Account, id: string, page: Page) =>
        Effect.map(requests(account, id, page), (rows) => rows.map((row) => new AccessRequest(row))),
      dismiss: (account: Account, id: string, email: Email) =>
        Effect.flatMap(asOwner(account, id, store.dismiss(id, email)), found)
    }
  })

  static readonly layerNoDeps = Layer.effect(TunnelSharing, TunnelSharing.make)
  static readonly layer = TunnelSharing.layerNoDeps.pipe(
    Layer.provide([AgentKeys.layer, Audits.layer, LoginOrders.layer, Tunnels.layer])
  )
}
