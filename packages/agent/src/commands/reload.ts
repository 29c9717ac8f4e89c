/** `reload`: checks the file of services and has the running agent apply it. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Schedule } from "effect"
import { UsageWrong, Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as ReloadNote from "../services/ReloadNote.ts"
import * as ServicePlan from "../services/ServicePlan.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as FolderLock from "../state/FolderLock.ts"
import { Screen } from "../terminal/Screen.ts"

const limit = "20 seconds"

const absent = (path: string) =>
  new Unreachable({ detail: `No ct-agent serves ${path}. Start it: ct-agent --config ${path}.` })

export const reload = Effect.gen(function* () {
  const path = yield* configFile
  if (!ServicesFile.isNamed(path))
    return yield* new UsageWrong({ detail: "ct-agent reload needs the file of services: --config ct-agent.yaml." })
  const { stateDir } = yield* ServicePlan.read(path)
  const note = yield* ReloadNote.read(stateDir)
  // The lock says whether the process of the note still runs.
  const isFree = Effect.scoped(FolderLock.take(stateDir, "services.lock"))
  if (note === undefined || (yield* isFree)) return yield* absent(path)
  yield* Effect.try({ try: () => process.kill(note.pid, "SIGHUP"), catch: () => absent(path) })
  const done = yield* ReloadNote.read(stateDir).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("50 millis"),
      until: (now) => now !== undefined && now.serial !== note.serial
    }),
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () => Effect.fail(new Unreachable({ detail: `The agent has not answered within ${limit}. See its log.` }))
    })
  )
  if (done?.isApplied === false)
    return yield* new ConfigurationInvalid({
      problems: done.text.split("\n").map((line) => {
        const [variable = "", ...rest] = line.replace(/\.$/u, "").split(" ")
        return { variable, problem: rest.join(" ") }
      })
    })
  const screen = yield* Screen
  const text = done?.text ?? ""
  screen.result(screen.json ? JSON.stringify({ applied: text }) : text)
}).pipe(Effect.provide(NodeFileSystem.layer))
