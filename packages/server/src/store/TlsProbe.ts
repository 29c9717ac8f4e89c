/** Asks a PostgreSQL server whether it speaks TLS, as a client does before it starts (protocol 3, `SSLRequest`). */
import { Data, Effect } from "effect"
import { connect } from "node:net"
import { DatabaseUnreachable, logWaiting, whileStarting } from "./DatabaseAvailability.ts"

class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly cause: Error }> {}

/** Length 8, then the code 80877103. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const patienceMillis = 5_000

const asked = (host: string, port: number) =>
  Effect.callback<boolean, NoAnswer>((resume) => {
    const socket = connect({ host, port, timeout: patienceMillis })
    const fail = (cause: Error) => resume(Effect.fail(new NoAnswer({ cause })))
    socket.on("connect", () => socket.write(sslRequest))
    socket.once("data", (answer) => {
      resume(Effect.succeed(answer[0] === 0x53))
      socket.destroy()
    })
    socket
      .on("error", fail)
      .on("close", () => fail(new Error(`${host}:${port} closes the connection`)))
      .on("timeout", () => socket.destroy(new Error(`${host}:${port} says nothing for 5 seconds`)))
    return Effect.sync(() => socket.destroy())
  })

/** Waits for a server that starts. */
export const answersTls = (url: URL): Effect.Effect<boolean, DatabaseUnreachable> => {
  const host = (url.searchParams.get("host") ?? url.hostname).replace(/^\[(.*)\]$/u, "$1")
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? "5432" : url.port))
  const once = asked(host, port)
  return once.pipe(
    Effect.catch((error) => Effect.andThen(logWaiting(error), Effect.retry(once, whileStarting))),
    Effect.mapError(({ cause }) => new DatabaseUnreachable({ cause }))
  )
}
