/** Whose manifests may be installed: the keys of the variable, and those of the file, which is read at every use. */
import * as Hex from "@catenet/crypto/Hex"
import { Effect, FileSystem, Result } from "effect"
import type { InstallTerms } from "../../settings/MemberSettings.ts"
import { InstallRejected } from "./InstallProblem.ts"

const unreadable = (detail: string) =>
  new InstallRejected({ reason: "trust_allowlist_unreadable", detail, manifestId: undefined })

/** One key a line; what stands behind a `#` is a comment. A line that is no key makes the whole list unusable. */
const ofFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(path), () =>
    unreadable("The file of CT_MANIFEST_TRUST_ALLOWLIST_FILE cannot be read.")
  )
  const keys: Array<Uint8Array> = []
  for (const [index, line] of text.split(/\r?\n/u).entries()) {
    const word = line.replace(/#.*/su, "").trim()
    if (word === "") continue
    const key = Hex.decode(word, 32)
    if (Result.isFailure(key))
      return yield* unreadable(
        `Line ${index + 1} of the file of CT_MANIFEST_TRUST_ALLOWLIST_FILE is no key of 64 hex digits.`
      )
    keys.push(key.success)
  }
  return keys
})

export const keysOf = Effect.fn("TrustedPublishers.keysOf")(function* ({ trusted, trustedFile }: InstallTerms) {
  return trustedFile === undefined ? trusted : [...trusted, ...(yield* ofFile(trustedFile))]
})
