/** Versions of the Model Context Protocol that local clients and servers may speak here. */

export const newest = "2025-11-25"
const versions = new Set([newest, "2025-06-18", "2025-03-26", "2024-11-05"])

/** The version of the answer to a client that asks for this one. */
export const versionFor = (asked: string | undefined): string =>
  asked !== undefined && versions.has(asked) ? asked : newest

/** Whether messages of this version may come several in one line: JSON-RPC batches were in MCP until the version of 2025-06-18. */
export const allowsBatches = (version: string | undefined): boolean =>
  version === "2025-03-26" || version === "2024-11-05"
