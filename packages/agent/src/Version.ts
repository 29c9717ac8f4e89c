/** The version of this program, equal to package.json (a test checks it). Imports nothing, so that `--version` is fast. */
export const version = "0.1.0"

/** The one line that `ct-agent --version` prints. */
export const line = `ct-agent ${version}`
