/** How this program is run again: one file that brings Node along runs itself, else Node runs the file that it runs now. */
import { resolve } from "node:path"
import { isSea } from "node:sea"

export const invocation = (): ReadonlyArray<string> =>
  isSea() ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? "ct-agent")]
