/** Errors about unusable files in the folder of the published root. Pure. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { describe } from "@catenet/platform/PrivateFile"
import type { PlatformError } from "effect"

const variable = "CT_EDGE_CERT_OUT"

/** A file with the wrong content; `what` completes the sentence "is not ...". */
export const damaged = (
  file: string,
  what: string,
  remedy = "restore it from your backup, or remove it to have a new one made"
) => ConfigurationInvalid.of(variable, `keeps ${file} beside it, which is not ${what}`, remedy)

/** A file that the edge has no permission to read or write. */
export const inaccessible = (file: string) => (error: PlatformError.PlatformError) =>
  ConfigurationInvalid.of(
    variable,
    `keeps ${file} beside it, which cannot be used (${describe(error)})`,
    "name a file in a folder that this user can read and write"
  )
