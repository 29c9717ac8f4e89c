/** Starts the program of a worker: from the sources, from a built package, or from the single executable. */
import { Processes } from "@catenet/platform/Processes"
import type { ChildProcess } from "node:child_process"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The argument with which the single executable runs as a worker. */
export const workerCommand = "edge-worker"

const self = fileURLToPath(import.meta.url)
const [, extension] = /^WorkerProgram(\.[jt]s)$/.exec(basename(self)) ?? []

/** It ends with this process; its settings come over the channel. */
export const startWorker = (): ChildProcess =>
  extension === undefined
    ? Processes.fork(join(dirname(self), "program.js"), [workerCommand], {
        stdio: ["ignore", "ignore", "inherit", "ipc"]
      })
    : Processes.fork(join(dirname(self), `worker${extension}`), [], { stdio: ["ignore", "ignore", "inherit", "ipc"] })
