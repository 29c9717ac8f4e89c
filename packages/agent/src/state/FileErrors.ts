/** Describes why one of the agent's files cannot be used, and what to do. */
import { clause } from "@catenet/domain/values/Sentence"
import { describe } from "@catenet/platform/PrivateFile"
import type { PlatformError } from "effect"
import { StateUnusable } from "../Failure.ts"

const codeOf = ({ reason: { cause } }: PlatformError.PlatformError) =>
  cause instanceof Error && "code" in cause ? String(cause.code) : ""

const inTheWay = "Something else is in its place or its folder's: move it away"
const space = "Free some space on that disk"

const remedies: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", space],
  ["EDQUOT", space],
  ["EFBIG", "Raise the limit of this process (ulimit -f)"],
  ["EROFS", "Mount that disk writable, or choose another folder"],
  ["EISDIR", inTheWay],
  ["ENOTDIR", inTheWay],
  ["EEXIST", inTheWay],
  ["ENOTEMPTY", inTheWay],
  ["ELOOP", "It is a symbolic link: remove it"]
])

const usual = "Make it and its folder readable and writable for this user"

export const unusable = (path: string) => (error: PlatformError.PlatformError) =>
  new StateUnusable({ path, detail: `${clause(describe(error))}. ${remedies.get(codeOf(error)) ?? usual}.` })
