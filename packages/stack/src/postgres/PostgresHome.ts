/**
 * Where the programs and the data of an embedded PostgreSQL live. Normally in the installed package and in the folder
 * that was asked for. When root runs the stack below a folder that PostgreSQL's own account cannot enter, both move to
 * a folder below `/var/lib`, where only root can make anything, and a link stays behind.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Stats } from "node:fs"
import { dirname, join, resolve } from "node:path"
import * as Binaries from "./Binaries.ts"
import * as SystemAccount from "./SystemAccount.ts"

// * A folder that another account of this machine cannot have planted or can change: made fresh, or owned by the expected
// account and closed to writes of others. A symbolic link in its place is refused, never followed.

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
const checkOwnedFolder = (path: string, owners: ReadonlyArray<number>): void => {
  const problem = fault(path, Files.lstatSync(path), owners)
  if (problem !== undefined) throw Binaries.failed("binaries")(problem)
}

/**
 * Makes the folder with `mode`, or checks the one that is there; in both cases it belongs to `account` afterwards.
 * Its parent must be there. Throws a sentence that names the path and the next step.
 */
const ensureOwnedFolder = (path: string, mode: number, account?: SystemAccount.SystemAccount): void => {
  const own = self()
  try {
    Files.mkdirSync(path, { mode })
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause
  }
  checkOwnedFolder(
    path,
    [own, account?.uid].filter((uid) => uid !== undefined)
  )
  Files.chmodSync(path, mode)
  if (account !== undefined) Files.lchownSync(path, account.uid, account.gid)
}

export interface PostgresHome {
  readonly account: SystemAccount.SystemAccount
  readonly binaries: Binaries.Binaries
  readonly data: string
}

/** What moves for root moves below this folder. */
const systemFolder = process.platform === "darwin" ? "/var/db/catenet" : "/var/lib/catenet"

const root = 0
const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Root's folder that other accounts may enter and not change. */
const openFolder = (path: string) => {
  checkOwnedFolder(dirname(path), [root])
  ensureOwnedFolder(path, 0o711)
  return path
}

const isLink = (path: string) => Files.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

const moved = (account: SystemAccount.SystemAccount, folder: string, system: string) => {
  const place = join(openFolder(system), `data-${digest(folder)}`)
  ensureOwnedFolder(place, 0o700, account)
  if (!isLink(folder)) Files.symlinkSync(place, folder)
  else if (Files.readlinkSync(folder) !== place)
    throw Binaries.failed("binaries")(
      `${folder} leads to ${Files.readlinkSync(folder)}. Move what is in there to ${place}, remove the link and start again.`
    )
  return place
}

const copied = (binaries: Binaries.Binaries, system: string) => {
  const place = join(openFolder(system), `programs-${digest(`${binaries.home} ${binaries.version}`)}`)
  if (!Files.existsSync(place)) {
    // Whole or not at all: others may be starting too, and this one may be killed.
    const making = `${place}.${Entropy.randomBytes(6).toString("hex")}`
    Files.cpSync(binaries.home, making, { recursive: true, verbatimSymlinks: true })
    try {
      Files.renameSync(making, place)
    } catch (cause) {
      Files.rmSync(making, { recursive: true, force: true })
      if (!Files.existsSync(place)) throw cause
    }
  }
  checkOwnedFolder(place, [root])
  return Binaries.inFolder(place, binaries.version)
}

/**
 * Settles account, programs and data folder, and makes the folder. `system` is where root's copies go; its parent must
 * belong to root.
 */
export const settle = Effect.fn("PostgresHome.settle")(function* (folder: string, system: string = systemFolder) {
  const account = yield* SystemAccount.current
  const installed = yield* Binaries.locate
  const wanted = resolve(folder)
  return yield* Effect.try({
    try: (): PostgresHome => {
      const binaries = SystemAccount.canRun(account, installed.postgres) ? installed : copied(installed, system)
      Files.mkdirSync(dirname(wanted), { recursive: true })
      if (isLink(wanted) || !SystemAccount.canReach(account, dirname(wanted)))
        return { account, binaries, data: moved(account, wanted, system) }
      ensureOwnedFolder(wanted, 0o700, account)
      return { account, binaries, data: wanted }
    },
    catch: Binaries.failed("binaries")
  })
})
