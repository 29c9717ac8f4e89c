/** Members that come by WebSocket through a proxy are known by the address that the proxy names. */
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { namedByProxy } from "../../src/channels/MemberConnection.ts"

const guesses = 30

describe("members behind a proxy", () => {
  it("are counted by the last address of X-Forwarded-For, those of IPv6 by their /64", () => {
    const named = (value?: string) => namedByProxy({ headers: value === undefined ? {} : { "x-forwarded-for": value } })
    assert.strictEqual(named("198.51.100.1, 192.0.2.7"), "proxied 192.0.2.7")
    assert.strictEqual(named("2001:db8::1"), named("2001:db8::2"))
    assert.notStrictEqual(named("2001:db8::1"), named("2001:db8:0:1::1"))
    for (const none of [undefined, "", "unknown", "192.0.2.7, x"]) assert.isUndefined(named(none))
  })

  it.live(
    "that guess 30 times in a minute are turned away by their address; another one behind the same proxy joins",
    () =>
      Effect.gen(function* () {
        const world = yield* start({ CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0" })
        const url = `ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`
        const from = (address: string) => ({
          webSocket: { url, ca: world.meshRoot, headers: { "x-forwarded-for": `203.0.113.1, ${address}` } }
        })
        const stranger = Members.member(Members.channel())
        const known = Members.member(Members.channel())
        Members.register(world, known)
        const join = (member: Members.TestMember, address: string) =>
          Effect.promise(async () => {
            const peer = await Members.dial(world, from(address))
            peer.send(Members.joinFrame(member))
            return peer.take(32)
          })
        // Each is answered late, so that guessing takes time.
        const answers = yield* Effect.replicateEffect(join(stranger, "192.0.2.7"), guesses, { concurrency: 10 })
        for (const { length } of answers) assert.isBelow(length, 32, "no member, no challenge")
        const refused = yield* Effect.promise(() => Members.dial(world, from("192.0.2.7")).then(() => "open", String))
        assert.match(refused, /503/)
        assert.strictEqual((yield* join(known, "192.0.2.8")).length, 32)
      }).pipe(Effect.scoped)
  )

  it.live("of one address that have taken every WebSocket give way to another one behind the same proxy", () =>
    Effect.gen(function* () {
      const variables = { CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0", CT_EDGE_MAX_WS_CHANNEL_CONNECTIONS: "3" }
      const world = yield* start(variables)
      const url = `ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`
      const dial = (address: string) =>
        Effect.promise(() =>
          Members.dial(world, { webSocket: { url, ca: world.meshRoot, headers: { "x-forwarded-for": address } } }).then(
            (peer) => peer,
            String
          )
        )
      const crowd = [yield* dial("192.0.2.7"), yield* dial("192.0.2.7"), yield* dial("192.0.2.7")]
      assert.match(String(yield* dial("192.0.2.7")), /503/, "a fourth one of the address")
      const other = yield* dial("192.0.2.8")
      assert.instanceOf(other, Members.Peer)
      const [, , newest] = crowd
      yield* Effect.promise(() =>
        eventually(() => newest instanceof Members.Peer && newest.ended, "the newest of the crowd has gone")
      )
      for (const peer of [...crowd, other]) if (peer instanceof Members.Peer) peer.socket.destroy()
    }).pipe(Effect.scoped)
  )
})
