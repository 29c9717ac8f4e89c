/** A control plane of another make has bodies of its own: what its answers mean, the status alone says. */
import { MemberNotAdmitted } from "@catenet/domain/channels/ChannelErrors"
import * as Members from "@catenet/testing/edge/Members"
import { start } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { statusOf } from "../../src/control/ControlPlane.ts"

describe("a control plane that refuses by the status alone", () => {
  it("is understood as one that sends a problem document", () => {
    const request = HttpClientRequest.get("http://127.0.0.1/")
    const response = HttpClientResponse.fromWeb(request, new Response("", { status: 404 }))
    const reason = new HttpClientError.StatusCodeError({ request, response })
    assert.strictEqual(statusOf(new HttpClientError.HttpClientError({ reason })), 404)
    assert.strictEqual(statusOf(new MemberNotAdmitted()), 404)
    assert.isUndefined(statusOf(new Error("no answer")))
  })

  it.effect("ends the session of a member that it has removed within 30 s, and one that it still has goes on", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(yield* TestClock.withLive(Clock.currentTimeMillis))
      const world = yield* start()
      world.controlPlane.isOfOtherMake = true
      const talk = Effect.promise(async () => {
        const channel = Members.channel()
        const members = [Members.member(channel), Members.member(channel)] as const
        Members.register(world, ...members)
        const one = await Members.join(world, members[0])
        const two = await Members.join(world, members[1], { alpn: Members.plain })
        await Promise.all([Members.acknowledged(one), Members.acknowledged(two)])
        return { members, peers: [one, two] as const }
      })
      const removed = yield* talk
      const kept = yield* talk
      for (const member of removed.members) Members.remove(world, member)
      yield* TestClock.adjust("30 seconds")
      yield* Effect.promise(() => Promise.all(removed.peers.map((peer) => peer.rest())))
      kept.peers[0].send(Members.ascii("still"))
      assert.strictEqual((yield* Effect.promise(() => kept.peers[1].take(5))).toString(), "still")
    }).pipe(Effect.scoped)
  )
})
