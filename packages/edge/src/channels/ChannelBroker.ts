/**
 * The broker of channels (data-plane 7): lets a member in by its grant, its place at the control plane and its key, and hands
 * it to the room. Here bytes only move between a carrier and the exchange.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { BrokerAdmission, type Step, type Verdict } from "@catenet/wire/channels/BrokerAdmission"
import { Clock, Context, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import type { Duplex } from "node:stream"
import { closeGracefully } from "../listen/GracefulClose.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import type { Carrier } from "./Carrier.ts"
import { HomeEdges } from "./HomeEdges.ts"
import { JoinPenalties } from "./JoinPenalties.ts"
import type { Member } from "./Member.ts"
import { MemberAuthority } from "./MemberAuthority.ts"
import { nextChunk } from "./NextChunk.ts"

const joinLimit = "15 seconds"
const definitiveRefusals = 30
const noBytes = new Uint8Array(0)

const counterOf = {
  matches: "endpointsMatching",
  cross_family: "endpointsOfOtherFamily",
  mismatch: "endpointsMismatching",
  no_address: "endpointsWithoutAddress",
  unobservable: "endpointsUnobservable"
} as const

type Admitted = Extract<Verdict, { readonly _tag: "Admitted" }>

const memberOf = (
  { authorization, join }: Admitted,
  { keepAlive, observed }: Carrier,
  authorizedAt: number
): Member => ({
  channel: Hex.encode(join.grant.channel),
  holder: Hex.encode(join.grant.holder),
  grant: join.grant,
  endpoint: join.endpoint,
  phase: join.phase,
  authorization,
  authorizedAt,
  observed,
  keepAlive
})

export class ChannelBroker extends Context.Service<
  ChannelBroker,
  {
    /** Whether this edge serves channels at all. */
    readonly isServed: boolean
    /** Whether joins are taken from the address now; asked before its TLS handshake. */
    readonly takes: (address: string | undefined) => boolean
    /** Serves a connection on which a member joins. It is paused, and nothing of it has been read. */
    readonly serve: (stream: Duplex, carrier: Carrier) => Effect.Effect<void>
    /** Addresses whose guesses are counted. */
    readonly trackedAddresses: () => number
  }
>()("edge/channels/ChannelBroker") {
  static readonly make = Effect.gen(function* () {
    const { channels, processes } = yield* Settings
    const authority = yield* MemberAuthority
    const counters = yield* Counters
    const homes = yield* HomeEdges
    const clock = yield* Clock.Clock
    const now = () => clock.currentTimeMillisUnsafe()
    const penalties = new JoinPenalties(Math.ceil(definitiveRefusals / processes))
    let open = 0

    /** Moves the exchange to its verdict. */
    const exchange = Effect.fnUntraced(function* (stream: Duplex, admission: BrokerAdmission) {
      let step: Step = { _tag: "Read" }
      let authorizedAt = 0
      for (;;) {
        switch (step._tag) {
          case "Read": {
            const chunk = yield* nextChunk(stream)
            step = chunk === undefined ? admission.end() : admission.push(chunk)
            break
          }
          case "Ask": {
            const { answer, at } = yield* authority.ask(Hex.encode(step.channel), Hex.encode(step.holder))
            authorizedAt = at
            step = admission.answered(answer, Math.floor(now() / 1_000))
            break
          }
          case "Challenge":
            stream.write(step.bytes)
            step = admission.push(noBytes)
            break
          default:
            return { verdict: step, authorizedAt }
        }
      }
    })

    const refuse = (stream: Duplex, { bytes }: Extract<Verdict, { readonly _tag: "Refused" }>) => {
      stream.end(bytes)
      closeGracefully(stream)
    }

    const takes = (address: string | undefined) => {
      if (!authority.canAsk) return false
      if (open >= channels.brokerConnections) return false
      if (address === undefined || !penalties.refuses(address, now())) return true
      counters.channelPenaltySheds += 1
      return false
    }

    const serve = Effect.fn("ChannelBroker.serve")(function* (stream: Duplex, carrier: Carrier) {
      if (!takes(carrier.address)) return void stream.destroy()
      open += 1
      stream.once("close", () => {
        open -= 1
      })
      const admission = new BrokerAdmission({
        suite: native,
        marked: carrier.marked,
        phase: carrier.phase,
        observed: carrier.observed,
        requireAttested: channels.requireAttestedEndpoint,
        challenge: () => randomBytes(32)
      })
      const { authorizedAt, verdict } = yield* exchange(stream, admission).pipe(
        Effect.timeoutOrElse({
          duration: joinLimit,
          orElse: () => Effect.sync(() => ({ verdict: admission.end(), authorizedAt: 0 }))
        })
      )
      if (admission.attested !== undefined) counters[counterOf[admission.attested]] += 1
      if (verdict._tag === "Admitted")
        return yield* homes.enter(stream, memberOf(verdict, carrier, authorizedAt), verdict.early)
      if (verdict.counts && carrier.address !== undefined) penalties.note(carrier.address, now())
      if (verdict._tag === "Dropped") return void stream.destroy()
      refuse(stream, verdict)
      const named = verdict.join && {
        channel: Hex.encode(verdict.join.grant.channel),
        holder: Hex.encode(verdict.join.grant.holder)
      }
      yield* Effect.logDebug("member refused").pipe(Effect.annotateLogs({ category: verdict.category, ...named }))
    })

    return ChannelBroker.of({ isServed: authority.canAsk, takes, serve, trackedAddresses: () => penalties.size })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([HomeEdges.layer, MemberAuthority.layer, Counters.layer]))
}
