/** Copies a folder to a new one and has it on the disk when it is done. Everything keeps its mode. */
import { Files } from "@catenet/platform/Files"
import { join } from "node:path"

/** Of each folder: which of its entries are left out. The path is relative to the copied folder. */
export type Skip = (path: string) => boolean

const isGone = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

const synced = async (path: string) => {
  const held = await Files.open(path, "r")
  try {
    await held.sync()
  } finally {
    await held.close()
  }
}

const copyFile = async (from: string, to: string) => {
  await Files.copyFile(from, to, Files.constants.COPYFILE_EXCL | Files.constants.COPYFILE_FICLONE)
  await synced(to)
}

const copyInto = async (from: string, to: string, path: string, skip: Skip): Promise<void> => {
  const mode = (await Files.stat(join(from, path))).mode & 0o7777
  await Files.mkdir(join(to, path), { mode: mode | 0o700 })
  for (const entry of await Files.readdir(join(from, path), { withFileTypes: true })) {
    const below = join(path, entry.name)
    if (skip(below)) continue
    try {
      if (entry.isDirectory()) await copyInto(from, to, below, skip)
      else if (entry.isFile()) await copyFile(join(from, below), join(to, below))
    } catch (error) {
      // A running program removes files of its own at any time.
      if (!isGone(error) || Files.existsSync(join(from, below))) throw error
    }
  }
  await synced(join(to, path))
}

export const copyFolder = (from: string, to: string, skip: Skip = () => false): Promise<void> =>
  copyInto(from, to, "", skip)

/** Gives everything below a folder to an account. */
export const giveTo = async ({ gid, uid }: { readonly uid: number; readonly gid: number }, folder: string) => {
  for (const entry of await Files.readdir(folder, { withFileTypes: true, recursive: true }))
    Files.lchownSync(join(entry.parentPath, entry.name), uid, gid)
  Files.lchownSync(folder, uid, gid)
}
