/**
 * What the edge knows of tunnels, for those who can do without: an edge that does not answer within two seconds, or
 * whose answer cannot be read, is silent, and silence is told apart from an answer. Nothing is ever made up.
 */
import type { ChannelId } from "@catenet/domain/Channel"
import type { RoutingToken } from "@catenet/domain/Tokens"
import type { TunnelHistory } from "@catenet/domain/TunnelTraffic"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as EdgeClient from "../edges/EdgeClient.ts"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"

const patience = "2 seconds"

/** `Disabled`: the edge answered, and keeps no history. */
export type History =
  | { readonly _tag: "Silent" }
  | { readonly _tag: "Disabled" }
  | { readonly _tag: "Known"; readonly history: TunnelHistory }

const silent: History = { _tag: "Silent" }

const make = Effect.gen(function* () {
  const client = yield* EdgeClient.make

  /** The answer, or nothing from an edge that is away, slow, or absent. */
  const ask = <A, E>(question: (client: EdgeClient.EdgeClient) => Effect.Effect<A, E>) =>
    Option.match(client, {
      onNone: () => Effect.succeed(Option.none<A>()),
      onSome: (present) =>
        question(present).pipe(
          Effect.timeout(patience),
          Effect.asSome,
          Effect.catch(() => Effect.succeed(Option.none<A>()))
        )
    })

  return {
    /** Whether the tunnel is served now, and since when. */
    status: (token: RoutingToken) => ask(({ facts }) => facts.statusByHeader({ headers: EdgeClient.about(token) })),

    /** The same of many tunnels, by one question. */
    statuses: (tokens: ReadonlyArray<RoutingToken>) =>
      tokens.length === 0
        ? Effect.succeed(Option.some([]))
        : ask(({ facts }) => facts.statuses({ payload: { tokens: tokens.map(Redacted.value) } })),

    /** The sessions of a tunnel, newest first, at most `limit`. */
    history: (token: RoutingToken, limit: number): Effect.Effect<History> =>
      Effect.map(
        ask(({ facts }) =>
          facts.historyByHeader({ headers: EdgeClient.about(token), query: { limit } }).pipe(
            Effect.map((history): History => ({ _tag: "Known", history })),
            Effect.catchTag("HistoryDisabled", () => Effect.succeed<History>({ _tag: "Disabled" }))
          )
        ),
        Option.getOrElse(() => silent)
      ),

    /** The holders that were seen on a channel since the edge started. */
    presence: (channel: ChannelId) =>
      Effect.map(
        ask(({ facts }) => facts.presence({ params: { channel } })),
        Option.map(({ holders }) => holders)
      )
  }
})

export class EdgeFacts extends Context.Service<EdgeFacts, Effect.Success<typeof make>>()("server/EdgeFacts") {
  static readonly layer = Layer.effect(EdgeFacts, make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
}
