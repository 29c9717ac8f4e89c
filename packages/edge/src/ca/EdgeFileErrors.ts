/** The sentences about files that the edge keeps beside its published root and cannot use. It touches no file. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { describe } from "@catenet/platform/PrivateFile"
import type { PlatformError } from "effect"

const variable = "CT_EDGE_CERT_OUT"

/** A file that is there and is not what it should be; `what` completes the sentence "is not ...". */
export const damaged = (
  file: string,
  what: string,
  remedy = "restore it from your backup, or remove it to have a new one made"
) => ConfigurationInvalid.of(variable, `keeps ${file} beside it, which is not ${what}`, remedy)

/** A file that the system does not let the edge read or write. */
export const inaccessible = (file: string) => (error: PlatformError.PlatformError) =>
  ConfigurationInvalid.of(
    variable,
    `keeps ${file} beside it, which cannot be used (${describe(error)})`,
    "name a file in a folder that this user can read and write"
  )
