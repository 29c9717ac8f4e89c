/** The folder of an installed service: filled in a temporary place and renamed, so that an incomplete bundle never runs. */
import { clause } from "@catenet/domain/values/Sentence"
import { describe } from "@catenet/platform/PrivateFile"
import { Effect, FileSystem, type PlatformError } from "effect"
import * as PrivateFile from "../../state/PrivateFile.ts"
import type { Archive } from "./BundleArchive.ts"
import * as InstallRecord from "./InstallRecord.ts"
import { InstallFailed } from "./InstallReport.ts"

export interface Place {
  readonly workDir: string
  readonly project: string
}

export interface Contents {
  readonly archive: Archive
  /** Files that are run whatever their mode in the archive is. */
  readonly programs: ReadonlyArray<string>
  readonly activation: InstallRecord.InstallRecord
  readonly variables: Readonly<Record<string, string>>
}

export const folderOf = ({ project, workDir }: Place) => `${workDir}/${project}`

/** No project is named like this. */
const stagedOf = ({ project, workDir }: Place) => `${workDir}/.${project}.new`

const failed = (error: PlatformError.PlatformError | { readonly _tag: "StateUnusable"; readonly detail: string }) =>
  new InstallFailed({
    step: "unpack",
    detail: `The bundle cannot be written: ${clause(error._tag === "StateUnusable" ? error.detail : describe(error))}.`
  })

/** Whether the place is free: absent, or an empty folder. */
export const isFree = Effect.fn("BundleFolder.isFree")(function* (place: Place) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readDirectory(folderOf(place)).pipe(
    Effect.map((names) => names.length === 0),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(true)),
    Effect.orElseSucceed(() => false)
  )
})

const fill = Effect.fnUntraced(function* (folder: string, { activation, archive, programs, variables }: Contents) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(folder, { recursive: true, force: true })
  yield* PrivateFile.folder(folder)
  for (const path of archive.folders) yield* fs.makeDirectory(`${folder}/${path}`, { recursive: true, mode: 0o700 })
  for (const { bytes, isExecutable, path } of archive.files) {
    const slash = path.lastIndexOf("/")
    if (slash > 0) yield* fs.makeDirectory(`${folder}/${path.slice(0, slash)}`, { recursive: true, mode: 0o700 })
    const mode = isExecutable || programs.includes(path) ? 0o700 : 0o600
    yield* fs.writeFile(`${folder}/${path}`, bytes, { flag: "wx", mode })
  }
  yield* InstallRecord.writeEnvironment(folder, variables)
  yield* InstallRecord.write(folder, activation)
})

/** Puts the bundle in its place. When that fails, nothing of it stays. */
export const unpack = Effect.fn("BundleFolder.unpack")(function* (place: Place, contents: Contents) {
  const fs = yield* FileSystem.FileSystem
  const staged = stagedOf(place)
  yield* Effect.andThen(fill(staged, contents), fs.rename(staged, folderOf(place))).pipe(
    Effect.mapError(failed),
    Effect.onError(() => Effect.ignore(fs.remove(staged, { recursive: true, force: true })))
  )
})

export const remove = Effect.fn("BundleFolder.remove")(function* (place: Place) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.ignore(fs.remove(folderOf(place), { recursive: true, force: true }))
})

/** Removes what interrupted installs left, and returns the folders of complete ones. */
export const repair = Effect.fn("BundleFolder.repair")(function* (workDir: string) {
  const fs = yield* FileSystem.FileSystem
  const active: Array<InstallRecord.InstallRecord> = []
  const names = yield* Effect.orElseSucceed(fs.readDirectory(workDir), (): Array<string> => [])
  for (const name of names) {
    const project = /^\.(.+)\.new$/u.exec(name)?.[1]
    if (project !== undefined && isProject(project))
      yield* Effect.ignore(fs.remove(stagedOf({ workDir, project }), { recursive: true, force: true }))
    if (!isProject(name)) continue
    const found = yield* InstallRecord.read(`${workDir}/${name}`)
    if (found?.project_name !== name) continue
    if (found.state === "active") active.push(found)
    else yield* remove({ workDir, project: name })
  }
  return active
})

/** The name of a project, which is that of a folder. */
export const isProject = (name: string): boolean => /^[a-z0-9][a-z0-9_-]{0,63}$/u.test(name)
