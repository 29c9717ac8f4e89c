/** Where the workers of this edge bring members of channels: the main process has the room. */
import { Effect } from "effect"
import * as MemberSession from "../channels/MemberSession.ts"
import { OwnRoom } from "../channels/OwnRoom.ts"
import { makeServe } from "../listen/Connections.ts"
import * as SiblingListener from "./SiblingListener.ts"

/** Listens for the life of the scope. */
export const open = Effect.fn("RoomSocket.open")(function* (path: string) {
  const { enter } = yield* OwnRoom
  const run = yield* makeServe
  yield* SiblingListener.open(path, () => ({
    onStream: (stream) => {
      stream.on("error", () => undefined)
      run(stream, (stream) => MemberSession.take(stream, enter))
    }
  }))
})
