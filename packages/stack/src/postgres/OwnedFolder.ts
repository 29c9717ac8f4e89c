/**
 * A folder that another account of this machine cannot have planted or can change: made fresh, or owned by the expected
 * account and closed to writes of others. A symbolic link in its place is refused, never followed.
 */
import { chmodSync, lchownSync, lstatSync, mkdirSync, type Stats } from "node:fs"
import type { SystemAccount } from "./SystemAccount.ts"

/** Bits by which the group or others may write. */
const writableByOthers = 0o022

const self = () => process.getuid?.()

/** Why the entry at `path` cannot be trusted, as a sentence; undefined where it can. */
const fault = (path: string, entry: Stats, owners: ReadonlyArray<number>): string | undefined => {
  if (entry.isSymbolicLink()) return `${path} is a symbolic link. Remove it and start again.`
  if (!entry.isDirectory()) return `${path} is no folder. Remove it and start again.`
  // Windows knows neither owners nor modes here.
  if (self() === undefined) return undefined
  if (!owners.includes(entry.uid))
    return `${path} belongs to another account (uid ${entry.uid}). Remove it and start again.`
  return (entry.mode & writableByOthers) === 0
    ? undefined
    : `${path} can be written by other accounts. Take it from them (chmod go-w) after you have looked at what is in it.`
}

/** Throws unless the folder is there, belongs to one of the accounts, and only its owner can write to it. */
export const check = (path: string, owners: ReadonlyArray<number>): void => {
  const problem = fault(path, lstatSync(path), owners)
  if (problem !== undefined) throw new Error(problem)
}

/**
 * Makes the folder with `mode`, or checks the one that is there; in both cases it belongs to `account` afterwards.
 * Its parent must be there. Throws a sentence that names the path and the next step.
 */
export const ensure = (path: string, mode: number, account?: SystemAccount): void => {
  const own = self()
  try {
    mkdirSync(path, { mode })
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause
  }
  check(
    path,
    [own, account?.uid].filter((uid) => uid !== undefined)
  )
  chmodSync(path, mode)
  if (account !== undefined) lchownSync(path, account.uid, account.gid)
}
