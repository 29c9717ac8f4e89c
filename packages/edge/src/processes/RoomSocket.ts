/** The socket over which workers forward members of channels to the main process, which has the room. */
import { Effect } from "effect"
import { LocalRoom } from "../channels/LocalRoom.ts"
import * as MemberStreams from "../channels/MemberStreams.ts"
import { makeServe } from "../listen/ConnectionFibers.ts"
import * as SiblingListener from "./SiblingListener.ts"

/** Listens for the life of the scope. */
export const open = Effect.fn("RoomSocket.open")(function* (path: string) {
  const { enter } = yield* LocalRoom
  const run = yield* makeServe
  yield* SiblingListener.open(path, () => ({
    onStream: (stream) => {
      stream.on("error", () => undefined)
      run(stream, (stream) => MemberStreams.take(stream, enter))
    }
  }))
})
