/** Connects to the Unix socket of a sibling process, with retries. */
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import type { Socket } from "node:net"

export const redialEvery = "50 millis"

/** The caller ends the socket. */
export const dial = (path: string) =>
  Effect.callback<Socket, Error>((resume) => {
    const socket = Sockets.dialTcp({ path, allowHalfOpen: true })
    socket.once("error", (error) => resume(Effect.fail(error)))
    socket.once("connect", () => resume(Effect.succeed(socket)))
    return Effect.sync(() => socket.destroy())
  })
