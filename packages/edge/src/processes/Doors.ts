/** The folder in which the processes of one edge meet: its owner alone can enter it, and it goes with the main process. */
import { join } from "node:path"
import { Effect, FileSystem } from "effect"

/** Made with mode 0700; removed with the scope. */
export const folder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "catenet-edge-" })
).pipe(Effect.orDie)

/** Where process `index` of the edge lets the others in; 0 is the main process. */
export const door = (folder: string, index: number): string => join(folder, `${index}.sock`)

/** The doors of all processes but this one. */
export const others = (folder: string, index: number, processes: number): ReadonlyArray<string> =>
  Array.from({ length: processes }, (_, each) => each).flatMap((each) => (each === index ? [] : [door(folder, each)]))
