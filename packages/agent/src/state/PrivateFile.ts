/** The agent's own files: private files whose failures say what is wrong with the file and what to do. */
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { Effect, FileSystem } from "effect"
import { unusable } from "./FileErrors.ts"

export type { Content } from "@catenet/platform/PrivateFile"
export { discard, readBackup, removeBackup, restoreBackup } from "@catenet/platform/PrivateFile"

export const { commit, folder, read, readStaged, remove, replaceAll, reserve, rewrite, stage } =
  PrivateFile.make(unusable)

/** The path, or its substitute when the folder of the path does not exist on this machine. */
export const place = Effect.fnUntraced(function* (path: string, substitute: string) {
  const fs = yield* FileSystem.FileSystem
  const slash = path.lastIndexOf("/")
  const there = slash <= 0 || (yield* Effect.orElseSucceed(fs.exists(path.slice(0, slash)), () => false))
  return there ? path : substitute
})
