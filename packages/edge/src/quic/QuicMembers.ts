/**
 * Members of channels on QUIC (data-plane 7.2 and 8.1): each connection is one member, its first stream the join. They meet all
 * others in the room at the home of the channel.
 */
import type { Phase } from "@catenet/crypto/admission/Join"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Context, type Duration, Effect, Layer } from "effect"
import { ChannelPlacement } from "../channels/ChannelPlacement.ts"
import { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import * as MemberConnection from "../channels/MemberConnection.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { QuicMemberConnection } from "./QuicMemberConnection.ts"

const joinLimit = "5 seconds"
/** Time for the last answer to arrive; normally the member closes the connection. */
const wordLimit = "10 seconds"
/** The same for a session: megabytes may be in transit to a slow member. */
const sessionLimit = "60 seconds"

const noBytes = new Uint8Array(0)

/** The first stream, the handler of all others, and what to do when one arrives. */
const arrivals = (connection: QuicConnection) => {
  const first = Promise.withResolvers<CarrierStream>()
  let isFirst = true
  let later = (stream: CarrierStream) => stream.reset("refused", "the join comes first")
  connection.take((stream) => {
    if (!isFirst) return later(stream)
    isFirst = false
    first.resolve(stream)
  })
  return { first: first.promise, onLater: (take: typeof later) => void (later = take) }
}

export class QuicMembers extends Context.Service<
  QuicMembers,
  {
    readonly serve: (connection: QuicConnection, phase: Phase) => void
    /** Closes every connection. */
    readonly closeAll: () => void
  }
>()("edge/quic/QuicMembers") {
  static readonly make = Effect.gen(function* () {
    const admissions = yield* MemberAdmissions
    const homes = yield* ChannelPlacement
    const { ending } = yield* ConnectionFaults
    const run = yield* makeServe
    const open = new Set<QuicConnection>()

    const left = (connection: QuicConnection, duration: Duration.Input) =>
      Effect.promise(() => connection.closed).pipe(
        Effect.timeoutOrElse({ duration, orElse: () => Effect.sync(() => connection.close()) })
      )

    const join = Effect.fn("QuicMembers.join")(function* (connection: QuicConnection, phase: Phase) {
      const { first, onLater } = arrivals(connection)
      const stream = yield* Effect.timeoutOrElse(
        Effect.promise(() => Promise.race([first, connection.closed.then(() => undefined)])),
        { duration: joinLimit, orElse: () => Effect.undefined }
      )
      if (stream === undefined) return connection.close()
      const admitted = yield* admissions.admit(stream, MemberConnection.overQuic(connection, phase), "join")
      if (admitted === undefined) return stream.destroyed ? connection.close() : yield* left(connection, wordLimit)
      const leg = new QuicMemberConnection(connection, stream)
      guard(leg, ending(leg))
      onLater((stream) => leg.came(stream))
      const isOver = new Promise<void>((resolve) => leg.once("close", resolve))
      // Bytes after the signature on the join's stream are ignored: the session has its own stream.
      yield* homes.enter(leg, admitted.member, noBytes)
      yield* Effect.promise(() => isOver)
      yield* left(connection, leg.goesOn ? sessionLimit : wordLimit)
    })

    return QuicMembers.of({
      serve: (connection, phase) => {
        open.add(connection)
        void connection.closed.then(() => open.delete(connection))
        run({ destroy: () => connection.close() }, () => join(connection, phase))
      },
      closeAll: () => {
        for (const connection of open) connection.close()
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([MemberAdmissions.layer, ChannelPlacement.layer, ConnectionFaults.layer])
  )
}
