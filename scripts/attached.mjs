/** Runs a program that dies with the process that started it, as it would have if it were that process. */
import { Socket } from "node:net"
import { pathToFileURL } from "node:url"

process.argv.splice(1, 1)

const starter = new Socket({ fd: 3 })
starter.on("error", () => {})
starter.once("close", () => process.kill(process.pid, "SIGKILL"))
starter.resume()
starter.unref()

await import(pathToFileURL(process.argv[1]).href)
