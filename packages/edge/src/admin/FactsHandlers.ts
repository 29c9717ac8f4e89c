/** What the edge answers about its tunnels. */
import { EdgeAdminApi, HostBinding } from "@catenet/domain/api/EdgeAdminApi"
import { HistoryDisabled, ReceiptsDisabled } from "@catenet/domain/errors/EdgeAdmin"
import { Hex64 } from "@catenet/domain/Hex"
import { Hostname } from "@catenet/domain/Hostname"
import { RoutingToken } from "@catenet/domain/Tokens"
import { TokenStatusReport } from "@catenet/domain/TunnelTraffic"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Routes } from "../Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { statusOf } from "./TunnelStatus.ts"

const readToken = Schema.decodeUnknownOption(RoutingToken)

export const FactsHandlers = HttpApiBuilder.group(
  EdgeAdminApi,
  "facts",
  Effect.fn(function* (handlers) {
    const routes = yield* Routes
    const agents = yield* AgentSessions
    const status = (token: RoutingToken) =>
      Effect.map(Clock.currentTimeMillis, (now) => statusOf(agents.tunnel(Redacted.value(token)), now))
    return handlers.handleAll({
      status: ({ params }) => status(params.token),
      statuses: ({ payload }) =>
        Effect.forEach(
          payload.tokens.flatMap((given) => Option.toArray(readToken(given))),
          (token) => Effect.map(status(token), (report) => new TokenStatusReport({ ...report, token }))
        ),
      hosts: () =>
        Effect.succeed(
          routes.dump().map(
            ({ hostname, token }) =>
              new HostBinding({
                hostname: Hostname.make(hostname),
                token: Redacted.make(Hex64.make(token), { label: "routing token" })
              })
          )
        ),
      history: () => Effect.fail(new HistoryDisabled({})),
      receipts: () => Effect.fail(new ReceiptsDisabled({})),
      receiptKey: () => Effect.fail(new ReceiptsDisabled({})),
      presence: () => Effect.succeed({ holders: [] }),
      holderPresence: () => Effect.succeed({ seen: false as const })
    })
  })
)
