/** What a data folder of an embedded PostgreSQL leaves on the disk, also where the folder had to be moved to. */
import { existsSync, realpathSync, rmSync } from "node:fs"

export const remove = (folder: string): void => {
  if (existsSync(folder)) rmSync(realpathSync(folder), { recursive: true, force: true })
  for (const path of [folder, `${folder}.password`, `${folder}.port`]) rmSync(path, { recursive: true, force: true })
}
