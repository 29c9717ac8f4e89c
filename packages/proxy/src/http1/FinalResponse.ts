/**
 * Answers a visitor of a gelb host in the place of the origin: the request head is drained first (16 KiB, 3 s), so that closing
 * does not reset the connection before the answer has arrived.
 */
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Effect } from "effect"
import type { TLSSocket } from "node:tls"
import { readerOfHead, siteOfHead } from "../ContentNegotiation.ts"
import { type ProxyResponse, http1, readBy } from "../ProxyPages.ts"

const headBytes = 16_384
const headWait = "3 seconds"

/** Gives what came of the head. */
const drainHead = (socket: TLSSocket): Effect.Effect<string> =>
  Effect.suspend(() => {
    let seen = ""
    return Effect.callback<void>((resume) => {
      const settle = () => resume(Effect.void)
      const take = (chunk: Buffer) => {
        seen += chunk.toString("latin1")
        if (seen.includes("\r\n\r\n") || seen.length > headBytes) settle()
      }
      socket.on("data", take).once("end", settle).once("close", settle)
      socket.resume()
      return Effect.sync(() => socket.off("data", take).off("end", settle).off("close", settle))
    }).pipe(
      Effect.timeoutOrElse({ duration: headWait, orElse: () => Effect.void }),
      Effect.map(() => seen)
    )
  })

/** Drains the request, says `answer` and ends the connection. */
export const send = Effect.fn("FinalResponse.send")(function* (socket: TLSSocket, answer: ProxyResponse) {
  const head = yield* drainHead(socket)
  yield* Effect.sync(() => {
    socket.end(http1(readBy(answer, readerOfHead(head), siteOfHead(head))))
    closeGracefully(socket)
  })
})
