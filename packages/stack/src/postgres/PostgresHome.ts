/**
 * Where the programs and the data of an embedded PostgreSQL live. Normally in the installed package and in the folder
 * that was asked for. When root runs the stack below a folder that PostgreSQL's own account cannot enter, both move to
 * a folder below `/var/lib`, where only root can make anything, and a link stays behind.
 */
import { Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { cpSync, existsSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import * as Binaries from "./Binaries.ts"
import * as OwnedFolder from "./OwnedFolder.ts"
import { PostgresFailed } from "./PostgresFailed.ts"
import * as SystemAccount from "./SystemAccount.ts"

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
  OwnedFolder.check(dirname(path), [root])
  OwnedFolder.ensure(path, 0o711)
  return path
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

const moved = (account: SystemAccount.SystemAccount, folder: string, system: string) => {
  const place = join(openFolder(system), `data-${digest(folder)}`)
  OwnedFolder.ensure(place, 0o700, account)
  if (!isLink(folder)) symlinkSync(place, folder)
  else if (readlinkSync(folder) !== place)
    throw new Error(
      `${folder} leads to ${readlinkSync(folder)}. Move what is in there to ${place}, remove the link and start again.`
    )
  return place
}

const copied = (binaries: Binaries.Binaries, system: string) => {
  const place = join(openFolder(system), `programs-${digest(`${binaries.home} ${binaries.version}`)}`)
  if (!existsSync(place)) {
    // Whole or not at all: others may be starting too, and this one may be killed.
    const making = `${place}.${randomBytes(6).toString("hex")}`
    cpSync(binaries.home, making, { recursive: true, verbatimSymlinks: true })
    try {
      renameSync(making, place)
    } catch (cause) {
      rmSync(making, { recursive: true, force: true })
      if (!existsSync(place)) throw cause
    }
  }
  OwnedFolder.check(place, [root])
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
      mkdirSync(dirname(wanted), { recursive: true })
      if (isLink(wanted) || !SystemAccount.canReach(account, dirname(wanted)))
        return { account, binaries, data: moved(account, wanted, system) }
      OwnedFolder.ensure(wanted, 0o700, account)
      return { account, binaries, data: wanted }
    },
    catch: (cause) =>
      new PostgresFailed({ step: "binaries", detail: cause instanceof Error ? cause.message : String(cause) })
  })
})
