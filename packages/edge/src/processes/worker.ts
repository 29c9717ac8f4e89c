/** Entry point of a worker process when the sources are separate files. */
import { start } from "./WorkerProcess.ts"

start()
