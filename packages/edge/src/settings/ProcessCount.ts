/** How many processes an edge is, where its settings leave that to the machine. */
import { Files } from "@catenet/platform/Files"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** As many as a number in the settings asks for. */
export const maxProcesses = 64
/** As many as are taken without a number: more would hold memory that few machines have to spare for this. */
export const maxAutomatic = 8
/** Bytes of the longest path that every system takes for a Unix socket. */
export const longestSocketPath = 103
/** Of the folder for the sockets between processes, in that for temporary files. */
const longestSocketName = `catenet-edge-123456/${maxProcesses}.sock`

/** Whether the system spreads connections among processes that listen at one address. */
const sharesAddresses = Effect.callback<boolean>((resume) => {
  const server = Sockets.tcpServer()
  server.once("error", () => resume(Effect.succeed(false)))
  server.listen({ host: "127.0.0.1", port: 0, reusePort: true }, () => server.close(() => resume(Effect.succeed(true))))
})

/** Whether the folder for temporary files takes theirs. */
const hasFolder = () => {
  try {
    Files.accessSync(tmpdir(), Files.constants.W_OK)
    return Buffer.byteLength(join(tmpdir(), longestSocketName)) <= longestSocketPath
  } catch {
    return false
  }
}

/** One for each core that this program may use; one where several could not work together. */
export const automatic = Effect.fn("ProcessCount.automatic")(function* (cores: number) {
  const wanted = Math.min(maxAutomatic, cores)
  if (wanted <= 1 || !hasFolder()) return 1
  return (yield* sharesAddresses) ? wanted : 1
})
