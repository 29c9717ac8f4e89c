/**
 * What edges know of tunnels, for callers that can do without it. Every live edge is asked and the answers are added
 * up. An edge that does not answer within two seconds, or whose answer cannot be read, is listed as silent; the answers
 * of the others count.
 */
import type { ChannelPresence } from "@catenet/domain/api/EdgeAdminApi"
import type { ChannelId } from "@catenet/domain/channels/Channel"
import { look, type Reachability, together } from "@catenet/domain/tunnels/Reachability"
import type { ReceiptKey } from "@catenet/domain/tunnels/Receipt"
import type {
  TokenStatusReport,
  TokenSums,
  TunnelHistory,
  TunnelStatusReport
} from "@catenet/domain/tunnels/TunnelTraffic"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import * as EdgeBatches from "./EdgeBatches.ts"
import * as EdgeClient from "./EdgeClient.ts"
import * as AddedUp from "./EdgeFactTotals.ts"
import { LiveEdges } from "./LiveEdges.ts"

const patience = "2 seconds"

/** For all requests of a question about many tunnels. */
const ofMany = "30 seconds"

/** Most sessions that an edge gives. */
const allSessions = 200

interface Asked<A> extends Pick<Answer<A>, "silent" | "silentSince"> {
  readonly answers: ReadonlyArray<A>
  /** The ids of the edges that gave them, in their order. */
  readonly answering: ReadonlyArray<string>
}

/** What the edges that answered know together, and the ids of those that did not answer. */
export interface Answer<A> {
  /** None where no edge answered. */
  readonly known: Option.Option<A>
  readonly silent: ReadonlyArray<string>
  /** When the first of those that are silent last answered this process, or was first found silent. */
  readonly silentSince: UnixSeconds | null
}

/** `Disabled`: the edges that answered keep no history. */
export type History =
  | { readonly _tag: "Silent"; readonly silent: ReadonlyArray<string> }
  | { readonly _tag: "Disabled"; readonly silent: ReadonlyArray<string> }
  | { readonly _tag: "Known"; readonly silent: ReadonlyArray<string>; readonly history: TunnelHistory }

/** Yes where one edge says so; no where all say no; null where one that is silent could say yes. */
export const anyOf = <A>(
  { known, silent }: Pick<Answer<A>, "known" | "silent">,
  holds: (known: A) => boolean
): boolean | null =>
  Option.isSome(known) && holds(known.value) ? true : Option.isNone(known) || silent.length > 0 ? null : false

/** What the echo finds of a tunnel, of which the edges that answered report this, or nothing. */
export const reachOf = (
  { known, silent, silentSince }: Answer<unknown>,
  report: TunnelStatusReport | undefined
): Reachability => {
  const silentEdge =
    silent.length > 0 || Option.isNone(known)
      ? look(undefined, { _tag: "EdgeSilent", lastAnswer: silentSince }, UnixSeconds.make(0))
      : undefined
  const gone = look(undefined, { _tag: "AgentGone", lastSeen: null }, UnixSeconds.make(0))
  return together(report?.reach === undefined ? [] : [report.reach], silentEdge) ?? gone
}

const dependencies = Effect.gen(function* () {
  const clientAt = yield* EdgeClient.make
  const edges = yield* LiveEdges

  const lastAnswers = new Map<string, UnixSeconds>()
  return { clientAt, edges, lastAnswers }
})
type State = Effect.Success<typeof dependencies>

/** Whether an edge answers at all is seen by the first request; questions of several have a patience for each. */
const ask = Effect.fnUntraced(function* <A, E>(
  { clientAt, edges, lastAnswers }: State,
  question: (client: EdgeClient.EdgeClient) => Effect.Effect<A, E>,
  most: typeof patience | typeof ofMany = patience
) {
  const asked = Option.isNone(clientAt) ? [] : yield* edges.all
  const answers = yield* Effect.forEach(
    asked,
    ({ id, url }) =>
      Option.match(clientAt, {
        onNone: () => Effect.succeed({ id, answer: Option.none<A>() }),
        onSome: (at) =>
          Effect.flatMap(at(url), question).pipe(
            Effect.timeout(most),
            Effect.asSome,
            Effect.catch(() => Effect.succeed(Option.none<A>())),
            Effect.map((answer) => ({ id, answer }))
          )
      }),
    { concurrency: "unbounded" }
  )
  const now = yield* unixSeconds
  for (const { answer, id } of answers) if (Option.isSome(answer) || !lastAnswers.has(id)) lastAnswers.set(id, now)
  const silent = answers.filter(({ answer }) => Option.isNone(answer)).map(({ id }) => id)
  const since = silent.map((id) => lastAnswers.get(id) ?? now)
  return {
    answers: answers.flatMap(({ answer }) => Option.toArray(answer)),
    answering: answers.filter(({ answer }) => Option.isSome(answer)).map(({ id }) => id),
    silent,
    silentSince: since.length === 0 ? null : since.reduce((least, time) => (time < least ? time : least))
  }
})

const added =
  <A, B>(addUp: (answers: ReadonlyArray<A>) => B) =>
  ({ answers, silent, silentSince }: Asked<A>): Answer<B> => ({
    silent,
    silentSince,
    known: answers.length === 0 ? Option.none() : Option.some(addUp(answers))
  })

const status = (state: State, token: RoutingToken) =>
  Effect.map(
    ask(state, ({ facts }) => facts.statusByHeader({ headers: EdgeClient.about(token) })),
    added(AddedUp.status)
  )

const connectedAt = (state: State, token: RoutingToken) =>
  Effect.map(
    ask(state, ({ facts }) => facts.statusByHeader({ headers: EdgeClient.about(token) })),
    ({ answering, answers }) => answering.filter((_id, n) => answers[n]?.connected === true)
  )

const statuses = (state: State, tokens: ReadonlyArray<RoutingToken>, watched = false) =>
  tokens.length === 0
    ? Effect.succeed({ known: Option.some([]), silent: [], silentSince: null })
    : Effect.map(
        ask(state, ({ facts }) => facts.statuses({ payload: { tokens: tokens.map(Redacted.value), watched } })),
        added((answers) => AddedUp.statuses(answers.flat()))
      )

const history = Effect.fnUntraced(function* (
  state: State,
  token: RoutingToken,
  limit: number,
  figures?: "figures"
): Effect.fn.Return<History> {
  const most = (yield* state.edges.all).length > 1 ? allSessions : limit
  const query = { limit: most, ...(figures === undefined ? {} : { figures: "1" as const }) }
  const { answers, silent } = yield* ask(state, ({ facts }) =>
    facts.historyByHeader({ headers: EdgeClient.about(token), query }).pipe(
      Effect.asSome,
      Effect.catchTag("HistoryDisabled", () => Effect.succeed(Option.none<TunnelHistory>()))
    )
  )
  if (answers.length === 0) return { _tag: "Silent", silent }
  const histories = answers.flatMap(Option.toArray)
  if (histories.length === 0) return { _tag: "Disabled", silent }
  const history = AddedUp.history(histories, most, yield* unixSeconds)
  return { _tag: "Known", silent, history }
})

const histories = Effect.fnUntraced(function* (
  state: State,
  tokens: ReadonlyArray<RoutingToken>,
  figures?: "figures"
): Effect.fn.Return<(token: RoutingToken) => History> {
  const isShared = (yield* state.edges.all).length > 1
  const limit = isShared ? allSessions : 1
  const asked = { limit, limitOfBefore: isShared || figures ? allSessions : 1, figures: figures !== undefined }
  const { answers, silent } = yield* ask(state, (client) => EdgeBatches.histories(client, tokens, asked), ofMany)
  const now = yield* unixSeconds
  if (answers.length === 0) return () => ({ _tag: "Silent", silent })
  const known = answers.flatMap(Option.toArray)
  return (token) => {
    const found = known.flatMap((each) => each.get(Redacted.value(token)) ?? [])
    if (found.length === 0) return { _tag: "Disabled", silent }
    return { _tag: "Known", silent, history: AddedUp.history(found, asked.limitOfBefore, now) }
  }
})

const sums = (state: State, tokens: ReadonlyArray<RoutingToken>) =>
  tokens.length === 0
    ? Effect.succeed({ known: Option.some([]), silent: [], silentSince: null })
    : Effect.map(
        ask(state, ({ facts }) =>
          facts
            .sums({ payload: { tokens: tokens.map(Redacted.value) } })
            .pipe(Effect.catchTag("HistoryDisabled", () => Effect.succeed([])))
        ),
        added((answers) => AddedUp.sums(answers.flat()))
      )

const presence = (state: State, channel: ChannelId) =>
  Effect.map(
    ask(state, ({ facts }) => facts.presence({ params: { channel } })),
    ({ answers }) => (answers.length === 0 ? Option.none() : Option.some(answers.flatMap(({ holders }) => holders)))
  )

const presences = (state: State, channels: ReadonlyArray<ChannelId>) =>
  Effect.map(
    ask(state, (client) => EdgeBatches.presences(client, channels), ofMany),
    ({ answers }) =>
      (channel: ChannelId) =>
        answers.flatMap((each) => each.get(channel) ?? [])
  )

export class EdgeFacts extends Context.Service<
  EdgeFacts,
  {
    /** Whether there is an edge that this process can ask. */
    readonly askable: Effect.Effect<boolean>
    /** Whether the tunnel is served now, and since when. */
    readonly status: (token: RoutingToken) => Effect.Effect<Answer<TunnelStatusReport>>
    /** The same of many tunnels, by one question to each edge. While they are watched, edges ask for their origins more often. */
    readonly statuses: (
      tokens: ReadonlyArray<RoutingToken>,
      watched?: boolean
    ) => Effect.Effect<Answer<ReadonlyArray<TokenStatusReport>>>
    /** The ids of the edges that have an agent of the tunnel now. */
    readonly connectedAt: (token: RoutingToken) => Effect.Effect<ReadonlyArray<string>>
    /** The sessions of a tunnel, newest first, at most `limit`. Uptime over several edges needs all sessions of each. */
    readonly history: (token: RoutingToken, limit: number, figures?: "figures") => Effect.Effect<History>
    /**
     * The newest session of each of many tunnels, with its figures where they are asked for, by one question to each edge. Of
     * several edges, and of one of before, all sessions that it gives.
     */
    readonly histories: (
      tokens: ReadonlyArray<RoutingToken>,
      figures?: "figures"
    ) => Effect.Effect<(token: RoutingToken) => History>
    /** What passed in thirty days through many tunnels, by one question to each edge; none of an edge without history. */
    readonly sums: (tokens: ReadonlyArray<RoutingToken>) => Effect.Effect<Answer<ReadonlyArray<TokenSums>>>
    /** The keys under which edges sign receipts; none of an edge that writes none. */
    readonly receiptKeys: Effect.Effect<Answer<ReadonlyArray<ReceiptKey>>>
    /** The holders that were seen on a channel since the edges started; one that two edges saw stands there twice. */
    readonly presence: (channel: ChannelId) => Effect.Effect<Option.Option<ReadonlyArray<ChannelPresence>>>
    /** The same of many channels, by one question to each edge. */
    readonly presences: (
      channels: ReadonlyArray<ChannelId>
    ) => Effect.Effect<(channel: ChannelId) => ReadonlyArray<ChannelPresence>>
  }
>()("server/edges/EdgeFacts") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { status, connectedAt, statuses, history, histories, sums, presence, presences }),
    askable: Effect.map(state.edges.all, (live) => live.length > 0),
    receiptKeys: Effect.map(
      ask(state, ({ facts }) =>
        facts.receiptKey().pipe(
          Effect.map((key) => [key]),
          Effect.catchTag("ReceiptsDisabled", () => Effect.succeed<ReadonlyArray<ReceiptKey>>([]))
        )
      ),
      added((answers) => answers.flat())
    )
  }))

  /** On the caller's view of which edges live. */
  static readonly layerNoDeps = Layer.effect(EdgeFacts, EdgeFacts.make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
  static readonly layer = EdgeFacts.layerNoDeps.pipe(Layer.provide([LiveEdges.layer]))
}
