/** Asks the kernel which TCP ports are free. The answer can be out of date at once; whoever binds decides. */
import { Effect } from "effect"
import { createServer } from "node:net"

/** Whether this host and port can be bound now. */
export const isFree = (host: string, port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resume(Effect.succeed(true))))
  })

/** A port that was free a moment ago. */
export const freePort = (host: string) =>
  Effect.callback<number>((resume) => {
    const server = createServer()
    server.once("error", (cause) => resume(Effect.die(cause)))
    server.listen({ host, port: 0 }, () => {
      const address = server.address()
      server.close(() =>
        resume(address !== null && typeof address === "object" ? Effect.succeed(address.port) : Effect.die(address))
      )
    })
  })
