/** One update, from the check to the replaced program. */
import * as Hex from "@catenet/crypto/Hex"
import { Effect } from "effect"
import { basename, dirname } from "node:path"
import type { UpdateState } from "../observe/UpdateState.ts"
import type { Source } from "../settings/UpdateVariables.ts"
import * as FolderLock from "../state/FolderLock.ts"
import type { ExecutableFile } from "./ExecutableFile.ts"
import * as ReleaseCandidate from "./ReleaseCandidate.ts"

interface Wanted {
  readonly source: Source
  readonly program: ExecutableFile
  /** The version that runs. */
  readonly running: string
  readonly state: UpdateState
  /** A version that was rolled back is tried again only on request. */
  readonly byHand: boolean
  /** Seconds in which the new version registers. */
  readonly trialSeconds: number
}

/** Milliseconds after which an expired trial counts as interrupted. */
const trialMargin = 60_000

const failed = (reason: string, isBusy = false) => new ReleaseCandidate.UpdateFailed({ step: "apply", reason, isBusy })

const apply = Effect.fnUntraced(function* (
  { byHand, program, running, source, state, trialSeconds }: Wanted,
  found: ReleaseCandidate.ReleaseCandidate
) {
  const { version } = found
  const hash = Hex.encode(found.digest)
  const trial = yield* program.readTrial
  if (trial?.failed !== undefined && trial.digest === hash && !byHand)
    return yield* failed(`version ${version} did not register on this machine before: ct-agent update tries it again`)
  const isTried = trial?.failed === undefined && (yield* program.isWaiting)
  if (isTried && (yield* program.trialAge) < (trial?.seconds ?? 0) * 1000 + trialMargin)
    return yield* failed(`version ${trial?.to} is on trial in another agent of this machine`, true)
  yield* program.replaceable
  const folder = dirname(program.path)
  const isAlone = yield* Effect.mapError(FolderLock.take(folder, `.${basename(program.path)}.lock`), ({ message }) =>
    failed(message)
  )
  if (!isAlone) return yield* failed("another process of this machine updates the program now", true)
  // Another agent of this machine may have put it there.
  if ((yield* program.digest) === hash) return
  state.current = { at: "downloading", version }
  const content = yield* ReleaseCandidate.download(source, found)
  const next = { from: running, to: version, hash, seconds: trialSeconds }
  yield* byHand ? program.replace(content, next) : program.stage(content, next)
}, Effect.scoped)

/** The version that has replaced this program; `undefined` if none is newer. The state shows the progress. */
export const run = Effect.fn("Update.run")(
  function* (wanted: Wanted) {
    const { running, source, state } = wanted
    state.current = { at: "checking" }
    if (source.skipChecksum)
      yield* Effect.logWarning("CT_AGENT_UPDATE_SKIP_VERIFY is set: the checksum file of the update is not looked at")
    const found = yield* ReleaseCandidate.check(source, running)
    if (found === undefined) {
      state.current = { at: "up-to-date", version: running }
      return undefined
    }
    yield* apply(wanted, found)
    state.current = { at: "applied", version: found.version }
    return found.version
  },
  (effect, { state }) =>
    Effect.tapErrorTag(effect, "UpdateFailed", ({ reason, step }) =>
      Effect.sync(() => void (state.current = { at: `${step} failed`, reason }))
    )
)
