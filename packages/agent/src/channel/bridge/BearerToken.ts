/** The bearer token of the channel's owner: the variable, or else its file, which is read at every use. */
import { Effect, FileSystem, Redacted, Schedule } from "effect"
import type { BridgeTerms } from "../../settings/ChannelSettings.ts"
import { ToolFailed } from "../rpc/Tool.ts"

type Source = Pick<BridgeTerms, "token" | "tokenFile">

const none = new ToolFailed({ reason: "this agent has no bearer token: set CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE" })

/** A file that cannot be read may be there again in a moment: its renewal replaces it. */
const patience = { schedule: Schedule.exponential("500 millis"), times: 2 }

/** Fails when there is none. */
export const resolve = Effect.fn("BearerToken.resolve")(function* ({ token, tokenFile }: Source) {
  if (token !== undefined) return token
  if (tokenFile === undefined) return yield* none
  const fs = yield* FileSystem.FileSystem
  const read = Effect.mapError(
    fs.readFileString(tokenFile),
    () => new ToolFailed({ reason: "the file of CT_OIDC_TOKEN_FILE cannot be read" })
  )
  const text = yield* Effect.retry(read, patience)
  return text.trim() === "" ? yield* none : Redacted.make(text.trim())
})

/** What `/status` and `bridge/config` call it. */
export const stateOf = ({ token, tokenFile }: Source) =>
  Effect.gen(function* () {
    if (token !== undefined) return "env"
    if (tokenFile === undefined) return "none"
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.orElseSucceed(fs.readFileString(tokenFile), () => "")
    return text.trim() === "" ? "none" : "env"
  })
