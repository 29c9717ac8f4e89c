/** A WebSocket has no half: a member that closes its own while it waits is gone. */
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { connect } from "node:net"

const waitingAt = (world: TestEdge, count: number, millis?: number) =>
  Effect.promise(() =>
    eventually(async () => (await world.metrics())["ct_edge_channel_parked"] === count, `${count} members wait`, millis)
  )

const edge = Effect.gen(function* () {
  const world = yield* start({ CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0" })
  const member = Members.member(Members.channel())
  Members.register(world, member)
  return { world, member, port: world.bound.channelWebSocket?.port ?? 0 }
})

describe("a member by WebSocket that waits and closes", () => {
  it.live("is paired no more once its connection is over", () =>
    Effect.gen(function* () {
      const { member, port, world } = yield* edge
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/channel`)
      yield* Effect.promise(() => once(socket, "open"))
      socket.send(Members.joinFrame(member))
      const [challenge] = yield* Effect.promise(() => once(socket, "message"))
      socket.send(Members.answer(member, challenge))
      yield* waitingAt(world, 1)
      socket.close(1000)
      yield* Effect.promise(() => once(socket, "close"))
      yield* waitingAt(world, 0, onThisMachine(1_000))
    }).pipe(Effect.scoped)
  )

  it.live("is paired no more a second after its close frame, though it keeps the connection", () =>
    Effect.gen(function* () {
      const { member, port, world } = yield* edge
      const raw = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
      const socket = new Members.Peer(raw)
      yield* Effect.promise(() => once(raw, "connect"))
      raw.write(
        "GET /ws/channel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
      )
      const message = (bytes: Uint8Array) =>
        socket.send(
          bytes.length < 126 ? Buffer.of(0x82, 0x80 | bytes.length) : Buffer.of(0x82, 0xfe, 0, bytes.length),
          Buffer.alloc(4),
          bytes
        )
      yield* Effect.promise(async () => {
        let head = ""
        while (!head.endsWith("\r\n\r\n")) head += (await socket.take(1)).toString("latin1")
        message(Members.joinFrame(member))
        await socket.take(2)
        message(Members.answer(member, await socket.take(32)))
      })
      yield* waitingAt(world, 1)
      const since = performance.now()
      socket.send(Buffer.of(0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8))
      yield* waitingAt(world, 0)
      assert.isBelow(performance.now() - since, onThisMachine(4_000))
      raw.destroy()
    }).pipe(Effect.scoped)
  )
})
