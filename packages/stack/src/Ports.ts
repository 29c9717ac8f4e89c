/**
 * Asks the kernel which TCP ports are free. The answer can be out of date at once; the bind decides. Ports are looked
 * for below those that systems assign (from 32768 on, or from 49152 on), so that no process gets one by
 * chance between the answer and the binding, or while a program that keeps its port is down.
 */
import { Sockets } from "@catenet/platform/Sockets"
import { Data, Effect, Random } from "effect"

const lowest = 20_000
const count = 12_000

class NoFreePort extends Data.TaggedError("NoFreePort")<{ readonly host: string }> {
  override get message() {
    return `no port of ${this.host} is free from ${lowest} to ${lowest + count - 1}`
  }
}

/** Whether this host and port can be bound now. */
export const isFree = (host: string, port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = Sockets.tcpServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resume(Effect.succeed(true))))
  })

/** Where this process has looked last: it answers no port twice, unless thousands are asked for. */
let place: number | undefined

/** A port that was free a moment ago. */
export const freePort: (host: string) => Effect.Effect<number> = Effect.fn("Ports.freePort")(function* (host: string) {
  for (let tried = 0; tried < count; tried++) {
    place = ((place ?? (yield* Random.nextIntBetween(0, count))) + 1) % count
    const port = lowest + place
    if (yield* isFree(host, port)) return port
  }
  return yield* Effect.die(new NoFreePort({ host }))
})
