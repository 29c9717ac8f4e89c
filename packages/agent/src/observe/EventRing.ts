/**
 * The event ring: `events.jsonl`, one JSON object per line, at most 1 MiB, rotated to `events.jsonl.1`. Several processes may
 * share it: each line is one append, and only the holder of a lock file rotates. A line torn by a crash is closed by the next
 * writer, and readers skip it. Errors never reach the caller; lost lines are counted.
 */
import { Clock, Effect, FileSystem, Option, Semaphore } from "effect"
import * as PrivateFile from "../state/PrivateFile.ts"

export const capBytes = 1_048_576
const lockAgeMillis = 10_000
const newline = 0x0a

export interface EventRing {
  readonly path: string
  /** Appends one line (without its newline). */
  append(line: string): Effect.Effect<void>
  /** The last `count` whole lines, oldest first. */
  last(count: number): Effect.Effect<ReadonlyArray<string>>
  /** How many lines could not be written since the start. */
  writeErrors(): number
}

const isWhole = (line: string) => {
  try {
    return typeof JSON.parse(line) === "object"
  } catch {
    return false
  }
}

interface State {
  readonly fs: FileSystem.FileSystem
  readonly directory: string
  readonly path: string
  readonly oldPath: string
  readonly lock: string
  errors: number
  isPrepared: boolean
}

const sizeOf = ({ fs }: State, file: string) =>
  fs.stat(file).pipe(
    Effect.map(({ size }) => Number(size)),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(0))
  )

/** Restricts the mode of an existing file and returns whether its last line is incomplete. */
const inspect = Effect.fnUntraced(
  function* ({ fs, path }: State) {
    const file = yield* fs.open(path, { flag: "r", noFollow: true })
    const size = Number((yield* file.stat).size)
    yield* fs.chmod(path, 0o600)
    if (size === 0) return false
    yield* file.seek(BigInt(size - 1), "start")
    const last = yield* file.readAlloc(1)
    return Option.isSome(last) && last.value[0] !== newline
  },
  Effect.scoped,
  Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false))
)

const dropStaleLock = Effect.fnUntraced(function* ({ fs, lock }: State) {
  const born = (yield* fs.stat(lock)).mtime
  const now = yield* Clock.currentTimeMillis
  if (Option.isSome(born) && now - born.value.getTime() > lockAgeMillis) yield* fs.remove(lock)
})

const takeLock = ({ fs, lock }: State) => Effect.isSuccess(fs.writeFileString(lock, "", { flag: "wx", mode: 0o600 }))

/** Without the lock, lines are appended beyond the limit: the holder is about to rotate. */
const rotate = Effect.fnUntraced(function* (state: State, incoming: number) {
  const { fs, lock, oldPath, path } = state
  const held = (yield* takeLock(state)) || ((yield* Effect.isSuccess(dropStaleLock(state))) && (yield* takeLock(state)))
  if (!held) return
  yield* Effect.gen(function* () {
    const size = yield* sizeOf(state, path)
    if (size > 0 && size + incoming > capBytes) yield* fs.rename(path, oldPath)
  }).pipe(Effect.ensuring(Effect.ignore(fs.remove(lock, { force: true }))))
})

const write = Effect.fnUntraced(function* (state: State, line: string) {
  const { directory, fs, path } = state
  const folder = Effect.provideService(PrivateFile.folder(directory), FileSystem.FileSystem, fs)
  const torn = state.isPrepared ? false : yield* Effect.andThen(folder, inspect(state))
  state.isPrepared = true
  const bytes = new TextEncoder().encode(`${torn ? "\n" : ""}${line}\n`)
  if ((yield* sizeOf(state, path)) + bytes.length > capBytes) yield* rotate(state, bytes.length)
  const file = yield* fs.open(path, { flag: "a", mode: 0o600, noFollow: true })
  yield* file.writeAll(bytes)
}, Effect.scoped)

const append = (state: State, line: string) =>
  Effect.catchCause(write(state, line), (cause) =>
    Effect.suspend(() => {
      state.errors++
      return state.errors === 1 ? Effect.logWarning("events cannot be written to the ring", cause) : Effect.void
    })
  )

const linesOf = ({ fs }: State, file: string) =>
  fs.readFileString(file).pipe(
    Effect.map((text) => text.split("\n").filter(isWhole)),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

/** The ring in this folder. The folder is created by the first append. */
export const make = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const semaphore = yield* Semaphore.make(1)
  const path = `${directory}/events.jsonl`
  const oldPath = `${path}.1`
  const state: State = { fs, directory, path, oldPath, lock: `${path}.lock`, errors: 0, isPrepared: false }
  return {
    path,
    append: (line) => semaphore.withPermits(1)(append(state, line)),
    last: (count) =>
      Effect.map(Effect.all([linesOf(state, oldPath), linesOf(state, path)]), ([old, now]) =>
        [...old, ...now].slice(-count)
      ),
    writeErrors: () => state.errors
  } satisfies EventRing
})
