/** Programs that ours start. A seam (see `Seam`). */
import { execFile, fork, spawn, spawnSync } from "node:child_process"

export interface Processes {
  readonly execFile: typeof execFile
  readonly fork: typeof fork
  readonly spawn: typeof spawn
  readonly spawnSync: typeof spawnSync
}

export const Processes: Processes = { execFile, fork, spawn, spawnSync }
