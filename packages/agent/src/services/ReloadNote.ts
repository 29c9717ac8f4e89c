/** What a running agent notes in its state folder, so that `ct-agent reload` finds it and reads what a reload did. */
import { Effect, Option, Schema } from "effect"
import * as PrivateFile from "../state/PrivateFile.ts"

const Note = Schema.Struct({
  pid: Schema.Int,
  /** Counts the reloads since the start. */
  serial: Schema.Int,
  isApplied: Schema.Boolean,
  /** What changed, or the problems of the file. */
  text: Schema.String
})
export type Note = typeof Note.Type

const Text = Schema.fromJsonString(Note)
const at = (stateDir: string) => `${stateDir}/agent.json`

/** A note that cannot be written is no reason to stop serving. */
export const write = (stateDir: string, note: Omit<Note, "pid">) =>
  Effect.flatMap(Effect.orDie(Schema.encodeEffect(Text)({ ...note, pid: process.pid })), (text) =>
    PrivateFile.replaceAll([{ path: at(stateDir), bytes: new TextEncoder().encode(text) }])
  ).pipe(Effect.catchTag("StateUnusable", ({ message }) => Effect.logWarning(message)))

export const read = Effect.fn("ReloadNote.read")(function* (stateDir: string) {
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(at(stateDir)), () => undefined)
  if (bytes === undefined) return undefined
  return Option.getOrUndefined(Schema.decodeUnknownOption(Text)(new TextDecoder().decode(bytes)))
})
