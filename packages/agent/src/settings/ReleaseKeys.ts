/** Public keys of which one has signed every release that this program updates itself to, 64 hex digits each. */

/** Put in by `scripts/build.mjs`, between commas; there are none in the sources. */
declare const CATENET_RELEASE_KEYS: string | undefined

export const compiledIn: ReadonlyArray<string> =
  typeof CATENET_RELEASE_KEYS === "string" ? CATENET_RELEASE_KEYS.split(",").filter((key) => key !== "") : []
