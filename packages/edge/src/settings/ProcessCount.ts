/** The number of processes of an edge for CT_EDGE_PROCESSES=auto. */
import { Files } from "@catenet/platform/Files"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Maximum number of processes that can be configured. */
export const maxProcesses = 64
/** Maximum for `auto`: more would use memory that few machines have to spare. */
export const maxAutomatic = 8
/** Maximum bytes of a Unix socket path on every supported system. */
export const longestSocketPath = 103
/** The longest path of a socket between processes, below the temporary folder. */
const longestSocketName = `catenet-edge-123456/${maxProcesses}.sock`

/** Whether the system supports several processes at one address. */
const sharesAddresses = Effect.callback<boolean>((resume) => {
  const server = Sockets.tcpServer()
  server.once("error", () => resume(Effect.succeed(false)))
  server.listen({ host: "127.0.0.1", port: 0, reusePort: true }, () => server.close(() => resume(Effect.succeed(true))))
})

/** Whether sockets can be created in the temporary folder. */
const hasFolder = () => {
  try {
    Files.accessSync(tmpdir(), Files.constants.W_OK)
    return Buffer.byteLength(join(tmpdir(), longestSocketName)) <= longestSocketPath
  } catch {
    return false
  }
}

/** One for each core; 1 if several processes could not work together here. */
export const automatic = Effect.fn("ProcessCount.automatic")(function* (cores: number) {
  const wanted = Math.min(maxAutomatic, cores)
  if (wanted <= 1 || !hasFolder()) return 1
  return (yield* sharesAddresses) ? wanted : 1
})
