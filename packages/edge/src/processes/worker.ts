/** Entry point of a worker process where each source is a file of its own. */
import { start } from "./WorkerProcess.ts"

start()
