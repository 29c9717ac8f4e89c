/**
 * The bearer token of this user at the control plane: the variable, or else its file, which is read at every use. A file that
 * cannot be read is a fault that may pass, and not the same as no token.
 */
import { Data, Effect, FileSystem, Redacted, Schedule } from "effect"
import type { BearerSource } from "../settings/BridgeVariables.ts"

/** There is no token, or it cannot be read now. The reason is the beginning of a sentence. */
export class TokenMissing extends Data.TaggedError("TokenMissing")<{ readonly reason: string }> {}

const none = new TokenMissing({ reason: "this agent has no bearer token: set CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE" })
const unreadable = new TokenMissing({ reason: "the file of CT_OIDC_TOKEN_FILE cannot be read" })

/** A file that cannot be read may be there again in a moment: its renewal replaces it. */
const patience = { schedule: Schedule.exponential("500 millis"), times: 2 }

/** The trimmed text of the file. */
const readFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapBoth(fs.readFileString(path), {
    onSuccess: (text) => text.trim(),
    onFailure: () => unreadable
  })
})

/** Fails when there is none. */
export const resolve = Effect.fn("BearerToken.resolve")(function* ({ token, tokenFile }: BearerSource) {
  if (token !== undefined) return token
  if (tokenFile === undefined) return yield* none
  const text = yield* Effect.retry(readFile(tokenFile), patience)
  return text === "" ? yield* none : Redacted.make(text)
})

/** What `/status` and `bridge/config` call it. */
export const stateOf = Effect.fn("BearerToken.stateOf")(function* ({ token, tokenFile }: BearerSource) {
  if (token !== undefined) return "env" as const
  if (tokenFile === undefined) return "none" as const
  const text = yield* Effect.orElseSucceed(readFile(tokenFile), () => undefined)
  return text === "" ? ("none" as const) : ("env" as const)
})

/** Says at the start that the file cannot be read, which is seen late otherwise. */
export const warn = Effect.fn("BearerToken.warn")(function* ({ token, tokenFile }: BearerSource) {
  if (token !== undefined || tokenFile === undefined) return
  yield* readFile(tokenFile).pipe(
    Effect.catch(() =>
      Effect.logWarning(
        "CT_OIDC_TOKEN_FILE names a file that cannot be read now. It is read again whenever the token is needed."
      )
    )
  )
})
