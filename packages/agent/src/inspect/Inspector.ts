/** The inspector of a serving agent: records what reaches the origin, and serves it on this machine until the scope closes. */
import { Effect, FileSystem, Option, Schema } from "effect"
import { homedir } from "node:os"
import { join } from "node:path"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Screen } from "../terminal/Screen.ts"
import * as InspectServer from "./InspectServer.ts"
import { inspection } from "./OriginTap.ts"
import { Recording } from "./Recording.ts"

/** What `ct-agent inspect` finds a running inspector by; readable by its user only. */
const Running = Schema.fromJsonString(Schema.Struct({ port: Schema.Int, token: Schema.String, pid: Schema.Int }))
const readRunning = Schema.decodeUnknownOption(Running)

const folderOf = (stateDir: string | undefined) => join(stateDir ?? join(homedir(), ".ct-agent"), "inspect")

/** The folder that the environment names, or a file of variables; a file of services does not say where inspectors are found. */
export const stateDir = Effect.gen(function* () {
  const named = yield* configFile
  const file = ServicesFile.isNamed(named) ? null : named
  return (yield* EnvironmentFile.read(file, { stateDir: LoginVariables.account.stateDir })).stateDir
})

const last = `${InspectServer.firstPort + InspectServer.ports - 1}`

/** An inspector that cannot be opened is no reason not to serve. */
export const start = Effect.fn("Inspector.start")(function* (stateDir: string | undefined) {
  const metrics = yield* AgentMetrics
  const screen = yield* Screen
  const fs = yield* FileSystem.FileSystem
  const recording = new Recording()
  const inspector = yield* InspectServer.open(recording, metrics.fault)
  if (inspector === undefined)
    return yield* Effect.logWarning(
      `no inspector: the ports ${InspectServer.firstPort} to ${last} of 127.0.0.1 are all in use`
    )
  Object.assign(metrics.inspection, {
    current: inspection(recording, metrics.fault),
    ofService: (name: string) => inspection(recording, metrics.fault, name)
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => Object.assign(metrics.inspection, { current: undefined, ofService: undefined }))
  )
  const { address, port, token } = inspector
  const path = join(folderOf(stateDir), `${port}.json`)
  const bytes = new TextEncoder().encode(JSON.stringify({ port, token, pid: process.pid }))
  yield* PrivateFile.folder(folderOf(stateDir)).pipe(
    Effect.andThen(PrivateFile.replaceAll([{ path, bytes }])),
    Effect.catch(({ message }) => Effect.logWarning(`ct-agent inspect will not find the inspector: ${message}`))
  )
  yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(path, { force: true })))
  // A stored log gets no token.
  if (screen.live) screen.log(`Inspect requests at ${address}`)
  else
    yield* Effect.logInfo(
      `inspector at http://127.0.0.1:${port}/; ct-agent inspect --address prints the address with its token`
    )
})

/** The inspectors that agents of this user run, by port. */
export const running = Effect.fn("Inspector.running")(function* (stateDir: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const folder = folderOf(stateDir)
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  const found: Array<{ readonly port: number; readonly token: string }> = []
  for (const name of names.filter((each) => /^\d+\.json$/u.test(each)).toSorted()) {
    const text = yield* Effect.orElseSucceed(fs.readFileString(join(folder, name)), () => "")
    const read = Option.getOrUndefined(readRunning(text))
    if (read !== undefined && isAlive(read.pid)) found.push(read)
  }
  return found
})

/** A process that died by force leaves its file. */
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
