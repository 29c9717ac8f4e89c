/** The folder of all installed services, which one process works in at a time. What was installed before is started again. */
import * as Hex from "@catenet/crypto/Hex"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect } from "effect"
import type { InstallTerms } from "../../settings/MemberSettings.ts"
import * as FolderLock from "../../state/FolderLock.ts"
import * as PrivateFile from "../../state/PrivateFile.ts"
import * as BundleFolder from "./BundleFolder.ts"
import type { InstalledServices } from "./InstalledServices.ts"
import * as InstallRecord from "./InstallRecord.ts"
import * as TrustedPublishers from "./TrustedPublishers.ts"

type ServicesFolder = { readonly path: string } | { readonly unusable: string }

const lock = ".ct-agent.lock"

/** Starts those whose publisher is still trusted. */
const resume = Effect.fnUntraced(function* (workDir: string, terms: InstallTerms, services: InstalledServices) {
  const active = yield* BundleFolder.repair(workDir)
  if (active.length === 0) return
  const trusted = new Set((yield* TrustedPublishers.keysOf(terms)).map(Hex.encode))
  for (const { program, project_name: project, publisher_pubkey: publisher } of active) {
    if (!trusted.has(publisher)) {
      yield* Effect.logWarning(
        `${project} is not started: its publisher is not on CT_MANIFEST_TRUST_ALLOWLIST any more.`
      )
      continue
    }
    const folder = BundleFolder.folderOf({ workDir, project })
    const variables = yield* InstallRecord.readEnvironment(folder)
    yield* services.start({ project, folder, program, variables })
    yield* Effect.logInfo(`${project} is started.`)
  }
})

/** `unusable` ends a sentence: why this process installs nothing. */
export const open = Effect.fn("ServicesFolder.open")(function* (terms: InstallTerms, services: InstalledServices) {
  const { workDir: path } = terms
  const unusable = (why: string): ServicesFolder => ({ unusable: why })
  if (path === undefined) return unusable("CT_MANIFEST_WORK_DIR is not set at this agent")
  const opened = Effect.gen(function* () {
    yield* PrivateFile.folder(path)
    if (!(yield* FolderLock.take(path, lock)))
      return unusable("another process of this machine works in CT_MANIFEST_WORK_DIR")
    yield* resume(path, terms, services).pipe(
      Effect.catch(({ detail }) => Effect.logWarning(`Installed services are not started. ${detail}`))
    )
    const own: ServicesFolder = { path }
    return own
  })
  const work = yield* Effect.catchTag(opened, "StateUnusable", ({ detail }) =>
    Effect.succeed(unusable(`CT_MANIFEST_WORK_DIR cannot be used: ${detail}`))
  )
  if ("unusable" in work) yield* Effect.logWarning(`Nothing is installed here: ${clause(work.unusable)}.`)
  return work
})
