import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import type { Suite } from "@catenet/crypto/Suite"
import { PipelineSpec } from "@catenet/domain/agents/Pipeline"
import { auctionView, matchPipeline as conveneRun, noTurns, type Turns } from "@catenet/domain/agents/PipelineMatching"
import { assert } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import { bytes, type Runners, sameHex } from "./runner.ts"

/** The vectors name a holder by the byte its seed repeats: `seed-01`. */
const holderOf = (suite: Suite, name: string): string =>
  Hex.encode(suite.ed25519.publicKey(new Uint8Array(32).fill(Number.parseInt(name.slice(5), 16))))

const offering = (suite: Suite) => (offer: any) => ({
  holder_pubkey: holderOf(suite, offer.holder),
  name: offer.label ?? offer.holder,
  services: offer.services ?? ["TextGeneration"],
  units_available: BigInt(offer.units_available),
  min_price: BigInt(offer.min_price),
  expires_at: BigInt(offer.expires_at ?? 1000)
})

const roles = (spec: any) => spec.roles.map((role: any) => ({ ...role, units: BigInt(role.units) }))

const rounds = (suite: Suite, input: any, phase: any, turns: Turns) => {
  const offers = phase.offers.map(offering(suite))
  const answers: Array<unknown> = []
  let current = turns
  for (let i = 0; i < phase.rounds; i++) {
    const run = conveneRun(roles(input.spec), offers, input.policy ?? "LowestFloor", current, BigInt(input.now))
    current = run.turns
    answers.push(
      Result.match(run.answer, {
        onSuccess: (assignments): unknown => ({
          assignments: assignments.map(({ role, offer }: any) => ({
            service: role.service,
            provider: offer.name,
            units: Number(role.units),
            price: Number(offer.min_price)
          }))
        }),
        onFailure: (refusal) =>
          refusal._tag === "NoRoles" ? { error: "Empty" } : { error: refusal._tag, service: refusal.role.service }
      })
    )
  }
  return { answers, turns: current }
}

export const convene: Runners = {
  convene: ({ input, expect }, suite) =>
    assert.deepStrictEqual(rounds(suite, input, input, noTurns).answers, expect.rounds),
  "convene-two-phases": ({ input, expect }, suite) => {
    let turns = noTurns
    for (const name of ["first", "then", "last"]) {
      if (input[name] === undefined) continue
      const phase = rounds(suite, input, input[name], turns)
      assert.deepStrictEqual(phase.answers, expect[name], name)
      turns = phase.turns
    }
  },
  table: ({ expect }, suite) => {
    const listed: ReadonlyArray<{ name: string; holder: string }> = expect.seeds_sorted_by_public_key
    assert.deepStrictEqual(
      listed.map(({ name }) => holderOf(suite, name)),
      listed.map(({ holder }) => holder)
    )
    assert.deepStrictEqual(
      listed.map(({ holder }) => holder).sort(),
      listed.map(({ holder }) => holder)
    )
  },
  "role-match-ref": ({ input, expect }, suite) => {
    const { pipeline_id, provider, units, price } = input
    sameHex(MatchRef.ofRole(suite, pipeline_id, bytes(provider), BigInt(units), BigInt(price)), expect.match_ref)
  },
  "auction-view": ({ input, expect }, suite) => {
    const offers = input.offers.map(offering(suite))
    const now = BigInt(input.now)
    const run = conveneRun(roles(input.spec), offers, input.policy, noTurns, now)
    const view = auctionView(Result.getOrThrow(run.answer), offers, now).map(({ role, bids }) => ({
      role,
      bids: bids.map(({ who, units, price, win }) => ({
        who: offers.find((offer: any) => offer.holder_pubkey === who).name,
        units: Number(units),
        price: Number(price),
        win
      }))
    }))
    assert.deepStrictEqual(view, expect.view)
  },
  "spec-parse": ({ input, expect }) => {
    const { id, roles, operator_pubkey_hex, selection_policy } = Schema.decodeUnknownSync(PipelineSpec)(
      JSON.parse(input.json)
    )
    const read = {
      id,
      roles: roles.map(({ service, units, tag, selection_policy }) => ({
        service,
        units: Number(units),
        tag,
        selection_policy
      })),
      operator_pubkey_hex,
      selection_policy
    }
    assert.deepEqual(read, expect.spec)
  },
  "spec-role-channel": ({ input, expect }, suite) => {
    const pipeline = { id: input.id, roles: input.roles, operatorHex: input.operator_pubkey_hex }
    const present = (operatorHex: string | null, role: string) =>
      Option.isSome(ChannelIds.publishedRole(suite, { ...pipeline, operatorHex }, role)) ? "present" : null
    assert.deepStrictEqual(
      {
        physics: present(pipeline.operatorHex, "physics"),
        art: present(pipeline.operatorHex, "art"),
        with_operator_key_absent: present(null, "physics"),
        with_operator_key_not_hex: present("zz", "physics")
      },
      expect
    )
  }
}
