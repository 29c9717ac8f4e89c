/**
 * Asks one edge about many tunnels or channels in as few requests as possible. Older edges have no such requests and
 * are asked one by one.
 */
import { type ChannelPresence, maxQuestioned } from "@catenet/domain/api/EdgeAdminApi"
import type { ChannelId } from "@catenet/domain/channels/Channel"
import type { TunnelHistory } from "@catenet/domain/tunnels/TunnelTraffic"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Option, Redacted } from "effect"
import { HttpClientError } from "effect/http"
import * as EdgeClient from "./EdgeClient.ts"

/** For one request; there may be several in a row. */
const patience = "2 seconds"

/** Requests to one edge at once. */
const parts = { concurrency: 4 }
const single = { concurrency: 16 }

/** What the edge knows of each; none where it keeps no history. */
export type Histories = Option.Option<ReadonlyMap<string, TunnelHistory>>

const chunks = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / maxQuestioned) }, (_, n) =>
    all.slice(n * maxQuestioned, (n + 1) * maxQuestioned)
  )

const isUnknownRoute = (error: unknown) =>
  HttpClientError.isHttpClientError(error) && [404, 405].includes(error.response?.status ?? 0)

const whole = (error: unknown): error is { readonly _tag: "HistoryDisabled" } =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "HistoryDisabled"

/** `limit` sessions of each; all that there is room for of an edge that tells no sums without them. */
export const histories = (
  { facts }: EdgeClient.EdgeClient,
  tokens: ReadonlyArray<RoutingToken>,
  asked: { readonly limit: number; readonly limitOfBefore: number; readonly figures: boolean }
) => {
  const { figures, limit, limitOfBefore } = asked
  const together = Effect.forEach(
    chunks(tokens),
    (part) =>
      Effect.timeout(facts.histories({ payload: { tokens: part.map(Redacted.value), limit, figures } }), patience),
    parts
  ).pipe(Effect.map((found) => found.flat().map((each) => [Redacted.value(each.token), each] as const)))
  const query = { limit: limitOfBefore, ...(figures ? { figures: "1" as const } : {}) }
  const apart = Effect.forEach(
    tokens,
    (token) =>
      facts.historyByHeader({ headers: EdgeClient.about(token), query }).pipe(
        Effect.timeout(patience),
        Effect.map((found) => [Redacted.value(token), found] as const)
      ),
    single
  )
  return Effect.catchIf(together, isUnknownRoute, () => apart).pipe(
    Effect.map((found): Histories => Option.some(new Map(found))),
    Effect.catchIf(whole, () => Effect.succeed<Histories>(Option.none()))
  )
}

/** The holders that the edge saw on each channel. */
export const presences = ({ facts }: EdgeClient.EdgeClient, channels: ReadonlyArray<ChannelId>) => {
  const together = Effect.forEach(
    chunks(channels),
    (part) => Effect.timeout(facts.presences({ payload: { channels: part } }), patience),
    parts
  ).pipe(Effect.map((found) => found.flat().map(({ channel, holders }) => [channel, holders] as const)))
  const apart = Effect.forEach(
    channels,
    (channel) =>
      facts.presence({ params: { channel } }).pipe(
        Effect.timeout(patience),
        Effect.map(({ holders }) => [channel, holders] as const)
      ),
    single
  )
  return Effect.catchIf(together, isUnknownRoute, () => apart).pipe(
    Effect.map((found): ReadonlyMap<string, ReadonlyArray<ChannelPresence>> => new Map(found))
  )
}
