/** The folder of the sockets between the processes of one edge. Only its owner can enter it; the main process removes it. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, FileSystem } from "effect"
import { join } from "node:path"
import { longestSocketPath, maxProcesses } from "../settings/ProcessCount.ts"

const tooLong = ConfigurationInvalid.of(
  "CT_EDGE_PROCESSES",
  "cannot be more than 1 where the path of the folder for temporary files is so long",
  "name a shorter one by TMPDIR"
)

/** Made with mode 0700; removed with the scope. */
export const folder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const made = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "catenet-edge-" }))
  return Buffer.byteLength(socketPath(made, maxProcesses)) > longestSocketPath ? yield* tooLong : made
})

/** The socket of process `index` of the edge; 0 is the main process. */
export const socketPath = (folder: string, index: number): string => join(folder, `${index}.sock`)

/** The socket at which the main process accepts members of channels. */
export const roomPath = (folder: string): string => join(folder, "r.sock")

/** The sockets of all processes but this one. */
export const siblingPaths = (folder: string, index: number, processes: number): ReadonlyArray<string> =>
  Array.from({ length: processes }, (_, each) => each).flatMap((each) =>
    each === index ? [] : [socketPath(folder, each)]
  )
