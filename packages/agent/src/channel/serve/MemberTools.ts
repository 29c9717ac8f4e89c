/** The tools of a serving member, from its settings. */
import * as AgentCard from "@catenet/crypto/AgentCard"
import type * as Json from "@catenet/crypto/Json"
import * as MarketService from "@catenet/crypto/market/MarketService"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import { Deferred, Effect } from "effect"
import type { CardTerms, Serving } from "../../settings/MemberSettings.ts"
import { type Caller, textOf, type Tool, ToolFailed } from "../rpc/Tool.ts"
import * as HandlerProcess from "./HandlerProcess.ts"
import { OfferBook } from "./OfferBook.ts"

/**
 * Limits concurrent service commands: CT_CHANNEL_SERVE_CONCURRENCY in all, and the first one of each session at once, so that no
 * session waits for another's. Among those waiting, the session that runs the fewest is next.
 */
interface Waiting {
  readonly caller: Caller
  readonly turn: Deferred.Deferred<void>
}

export class HandlerPlaces {
  readonly #most: number
  /** Commands that run, by the session that has called them. */
  readonly #held = new Map<Caller, number>()
  readonly #waiting = new Set<Waiting>()
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs the command when there is a place for it. */
  hold<A, E, R>(caller: Caller, command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.interruptible(this.#take(caller)),
      () => command,
      () => Effect.sync(() => this.#give(caller))
    )
  }

  #heldBy(caller: Caller) {
    return this.#held.get(caller) ?? 0
  }

  #isFree(caller: Caller) {
    return this.#heldBy(caller) === 0 || this.#total < this.#most
  }

  #begin(caller: Caller) {
    this.#held.set(caller, this.#heldBy(caller) + 1)
    this.#total++
  }

  #take(caller: Caller) {
    return Effect.suspend(() => {
      if (this.#isFree(caller)) return Effect.sync(() => this.#begin(caller))
      const waiting: Waiting = { caller, turn: Deferred.makeUnsafe() }
      this.#waiting.add(waiting)
      return Effect.onInterrupt(Deferred.await(waiting.turn), () =>
        Effect.sync(() => {
          // It may just have got its place.
          if (!this.#waiting.delete(waiting)) this.#give(caller)
        })
      )
    })
  }

  #give(caller: Caller) {
    const held = this.#heldBy(caller) - 1
    if (held === 0) this.#held.delete(caller)
    else this.#held.set(caller, held)
    this.#total--
    const [next] = [...this.#waiting]
      .filter((waiting) => this.#isFree(waiting.caller))
      .toSorted((a, b) => this.#heldBy(a.caller) - this.#heldBy(b.caller))
    if (next === undefined) return
    this.#waiting.delete(next)
    this.#begin(next.caller)
    Deferred.doneUnsafe(next.turn, Effect.void)
  }
}

const ping: Tool = {
  name: "ping",
  description: "Answers pong.",
  isReadOnly: true,
  run: () => Effect.succeed({ reply: "pong" })
}

const cardTool = ({ ttlSecs, ...claims }: CardTerms, holderKey: NonNullable<Serving["holderKey"]>): Tool => ({
  name: "agent/card",
  description: "The signed card of this agent.",
  isReadOnly: true,
  run: () =>
    Effect.map(unixSecondsBigInt, (now) =>
      AgentCard.json.toJson(
        AgentCard.sign(native, holderKey, { ...claims, issuedAt: now, expiresAt: now + BigInt(ttlSecs) })
      )
    )
})

const offerTools = (book: OfferBook): ReadonlyArray<Tool> => [
  {
    name: "auction/offer",
    description: "The signed capacity offer of this agent.",
    isReadOnly: true,
    run: () => Effect.map(unixSecondsBigInt, (now) => Offer.json.toJson(book.current(now)))
  },
  {
    name: "auction/bid",
    description: "Bids for units of the offer: {bid} signed by the bidder.",
    isReadOnly: false,
    run: (args, caller) => Effect.flatMap(unixSecondsBigInt, (now) => Effect.fromResult(book.bid(args, caller, now)))
  }
]

/** Bytes of an input in name; the frame carries less. */
const longestInput = 4 * 1024 * 1024

const serviceTool = (service: string, line: string, passes: ReadonlyArray<string>, places: HandlerPlaces): Tool => ({
  name: `service/${service}`,
  description: `Serves a ${service} request: {input} in, {output} out.`,
  isReadOnly: false,
  run: Effect.fnUntraced(function* (args: Json.Json, caller: Caller) {
    const input = textOf(args, "input")
    if (input === undefined) return yield* new ToolFailed({ reason: `service/${service} wants an input text` })
    if (Buffer.byteLength(input) > longestInput) return yield* new ToolFailed({ reason: "the input is too long" })
    return { output: yield* places.hold(caller, HandlerProcess.call({ line, service, passes }, input)) }
  })
})

/** The slugs to serve: the requested ones, or those of the offer, which limits them. */
export const servicesOf = ({ offer, services }: Pick<Serving, "offer" | "services">) => {
  const slugs = (list: ReadonlyArray<MarketService.Service>) =>
    [...new Set(list.map(MarketService.slug))].filter((slug) => slug !== "")
  const offered = offer === undefined ? undefined : slugs(offer.services)
  const wanted = services === undefined ? (offered ?? []) : slugs(services)
  return {
    served: wanted.filter((slug) => offered === undefined || offered.includes(slug)),
    refused: wanted.filter((slug) => offered !== undefined && !offered.includes(slug))
  }
}

export const make = Effect.fn("MemberTools.make")(function* (serving: Serving) {
  const { card, handlerCommand, holderKey, offer, passes } = serving
  const { refused, served } = servicesOf(serving)
  for (const slug of refused)
    yield* Effect.logWarning(`CT_AGENT_SERVICES: ${slug} is not served: CT_AGENT_OFFER_SERVICES does not declare it.`)
  const places = new HandlerPlaces(serving.concurrency)
  const tools: ReadonlyArray<Tool> = [
    ping,
    ...(card === undefined || holderKey === undefined ? [] : [cardTool(card, holderKey)]),
    ...(offer === undefined || holderKey === undefined ? [] : offerTools(new OfferBook(offer, holderKey))),
    ...(handlerCommand === undefined ? [] : served.map((slug) => serviceTool(slug, handlerCommand, passes, places)))
  ]
  return tools
})
