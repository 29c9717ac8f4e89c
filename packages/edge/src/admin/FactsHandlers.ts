/** What the edge answers about its tunnels. */
import { EdgeAdminApi, HostBinding } from "@catenet/domain/api/EdgeAdminApi"
import { HistoryDisabled, ReceiptsDisabled } from "@catenet/domain/errors/EdgeAdmin"
import { Hex64 } from "@catenet/domain/Hex"
import { Hostname } from "@catenet/domain/Hostname"
import { EdgeId } from "@catenet/domain/EdgeNode"
import { PublicKey } from "@catenet/domain/Keys"
import { Receipt, ReceiptKey, ReceiptPage } from "@catenet/domain/Receipt"
import { RoutingToken } from "@catenet/domain/Tokens"
import { TokenStatusReport, TunnelHistory } from "@catenet/domain/TunnelTraffic"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Books } from "../history/Books.ts"
import type { Receipts } from "../history/Receipts.ts"
import type { Sessions } from "../history/Sessions.ts"
import { tunnelName } from "../history/TunnelName.ts"
import { Routes } from "../Routes.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../Settings.ts"
import { statusOf } from "./TunnelStatus.ts"

const decodeHistory = Schema.decodeUnknownEffect(TunnelHistory)
const decodeReceipt = Schema.decodeUnknownEffect(Schema.fromJsonString(Receipt))
const readToken = Schema.decodeUnknownOption(RoutingToken)

export const FactsHandlers = HttpApiBuilder.group(
  EdgeAdminApi,
  "facts",
  Effect.fn(function* (handlers) {
    const routes = yield* Routes
    const agents = yield* AgentSessions
    const books = yield* Books
    const { edgeId } = yield* Settings
    const edge = ({ pubkey }: Receipts) => ({ pubkey: PublicKey.make(pubkey), edge_id: EdgeId.make(edgeId) })
    const history = Effect.fnUntraced(function* (sessions: Sessions, token: RoutingToken, limit: number) {
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
      const found = sessions.history(tunnelName(Redacted.value(token)), limit, now)
      return yield* Effect.orDie(decodeHistory(found))
    })
    const receiptPage = (receipts: Receipts, token: RoutingToken, since: number, limit: number) =>
      Effect.forEach(receipts.page(tunnelName(Redacted.value(token)), since, limit), (line) =>
        decodeReceipt(line)
      ).pipe(
        Effect.orDie,
        Effect.map((page) => new ReceiptPage({ ...edge(receipts), receipts: page }))
      )
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
      history: ({ params, query }) =>
        books.sessions === undefined
          ? Effect.fail(new HistoryDisabled({}))
          : history(books.sessions, params.token, query.limit ?? 20),
      receipts: ({ params, query }) =>
        books.receipts === undefined
          ? Effect.fail(new ReceiptsDisabled({}))
          : receiptPage(books.receipts, params.token, query.since ?? 0, query.limit ?? 200),
      receiptKey: () =>
        books.receipts === undefined
          ? Effect.fail(new ReceiptsDisabled({}))
          : Effect.succeed(new ReceiptKey({ alg: "ed25519", ...edge(books.receipts) })),
      // No member of a channel joins here, so nobody was seen.
      presence: () => Effect.succeed({ holders: [] }),
      holderPresence: () => Effect.succeed({ seen: false as const })
    })
  })
)
