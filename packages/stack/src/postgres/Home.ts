/**
 * Where the programs and the data of an embedded PostgreSQL live. Normally in the installed package and in the folder
 * that was asked for. When root runs the stack below a folder that PostgreSQL's own account cannot enter, both move to
 * a place that it can, and a link stays behind.
 */
import { Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import * as Account from "./Account.ts"
import * as Binaries from "./Binaries.ts"
import { PostgresFailed } from "./PostgresFailed.ts"

export interface Home {
  readonly account: Account.Account
  readonly binaries: Binaries.Binaries
  readonly data: string
}

const openPlace = existsSync("/var/tmp") ? "/var/tmp" : tmpdir()
const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

const makeFolder = (account: Account.Account, path: string) => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (account !== undefined) chownSync(path, account.uid, account.gid)
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

const moved = (account: Account.Account, folder: string) => {
  const place = join(openPlace, `catenet-postgres-data-${digest(folder)}`)
  makeFolder(account, place)
  mkdirSync(dirname(folder), { recursive: true })
  if (!isLink(folder)) symlinkSync(place, folder)
  return place
}

const copied = (binaries: Binaries.Binaries) => {
  const place = join(openPlace, `catenet-postgres-${digest(binaries.home)}`)
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
  return Binaries.inFolder(place)
}

/** Settles account, programs and data folder, and makes the folder. */
export const settle = Effect.fn("Home.settle")(function* (folder: string) {
  const account = yield* Account.current
  const installed = yield* Binaries.locate
  const wanted = resolve(folder)
  return yield* Effect.try({
    try: (): Home => {
      const binaries = Account.canRun(account, installed.postgres) ? installed : copied(installed)
      mkdirSync(dirname(wanted), { recursive: true })
      const data = !isLink(wanted) && Account.canReach(account, dirname(wanted)) ? wanted : moved(account, wanted)
      makeFolder(account, data)
      return { account, binaries, data }
    },
    catch: (cause) => new PostgresFailed({ step: "binaries", detail: String(cause) })
  })
})
