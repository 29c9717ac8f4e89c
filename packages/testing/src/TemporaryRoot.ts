/** Where tests have their temporary folders. */
import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

const memory = "/dev/shm"
const tmpfs = 0x01021994
const needed = 4 * 2 ** 30

const hasRoom = () => {
  try {
    const { bavail, bsize, type } = statfsSync(memory)
    return type === tmpfs && bavail * bsize >= needed
  } catch {
    return false
  }
}

/**
 * In memory where there is plenty: a program that writes a key or a database waits for the disk otherwise, for seconds where another
 * test deletes much.
 */
export const temporaryRoot = (): string => (hasRoom() ? memory : tmpdir())
