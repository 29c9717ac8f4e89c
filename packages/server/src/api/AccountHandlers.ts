/** Handlers of the `accounts` and `operators` groups. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { Effect, Layer, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts } from "../accounts/Accounts.ts"
import { Credits } from "../billing/Credits.ts"
import { Payments } from "../billing/Payments.ts"
import { paged, type Page } from "../http/Paging.ts"
import { Audits, type AuditQuery } from "../identity/Audits.ts"

/** Entries of the audit log in pages; the log is read backwards. */
const logged = (audits: Audits["Service"], { cursor, limit, ...query }: Page & AuditQuery) =>
  paged(
    { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) },
    Schema.Int,
    ({ after, limit: most }) =>
      audits.list({
        ...query,
        ...(after === undefined ? {} : { before: after }),
        ...(most === undefined ? {} : { limit: most })
      }),
    ({ id }) => id
  )

const accounts = HttpApiBuilder.group(
  ControlPlaneApi,
  "accounts",
  Effect.fn(function* (handlers) {
    const service = yield* Accounts
    const credits = yield* Credits
    const payments = yield* Payments
    const audits = yield* Audits
    return handlers.handleAll({
      buyCredits: ({ headers, payload }) =>
        Caller.use(({ subject }) =>
          Effect.flatMap(credits.mine(subject), ({ account }) =>
            payments
              .intend(subject, { account, credits: payload.credits }, headers["idempotency-key"])
              .pipe(Effect.catchTag("AccountUnknown", (error) => Effect.die(error)))
          )
        ),
      listPayments: ({ query }) =>
        Caller.use(({ subject }) =>
          Effect.flatMap(credits.mine(subject), ({ account }) => payments.list(account, query))
        ),
      auditLog: ({ query }) => Caller.use(({ subject }) => logged(audits, { ...query, actor: lowerAscii(subject) })),
      remove: () => Caller.use((caller) => service.remove(caller))
    })
  })
)

const operators = HttpApiBuilder.group(
  ControlPlaneApi,
  "operators",
  Effect.fn(function* (handlers) {
    const service = yield* Accounts
    const audits = yield* Audits
    return handlers.handleAll({
      setMaxTunnels: ({ params, payload }) => service.setMaxTunnels(params.subject, payload.max),
      setMaxChannels: ({ params, payload }) => service.setMaxChannels(params.subject, payload.max),
      limits: ({ params }) => service.limits(params.subject),
      auditLog: ({ query }) => logged(audits, query)
    })
  })
)

export const AccountHandlers = Layer.mergeAll(accounts, operators)
