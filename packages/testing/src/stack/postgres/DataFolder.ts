/** The data folders of embedded PostgreSQLs of tests, and what they leave on the disk. */
import { existsSync, realpathSync, rmSync } from "node:fs"

/** Also where the folder had to be moved to. */
export const remove = (folder: string): void => {
  if (existsSync(folder)) rmSync(realpathSync(folder), { recursive: true, force: true })
  for (const path of [folder, `${folder}.password`, `${folder}.port`]) rmSync(path, { recursive: true, force: true })
}
