/** What an agent said it lacks, from its answer to the bridge. Pure. */

type Readiness = Readonly<Record<string, unknown>>

const isMissing = (value: unknown) => value === false || value === "none"

const isGap = (key: string, value: unknown) =>
  key.endsWith("_disabled")
    ? value === true
    : (key.endsWith("_configured") || key.endsWith("_available") || key === "oidc_credential") && isMissing(value)

/** Names of what is missing or switched off, sorted; none where nothing was probed. */
export const gaps = (readiness: Readiness | null): ReadonlyArray<string> =>
  readiness === null
    ? []
    : Object.entries(readiness)
        .filter(([key, value]) => isGap(key, value))
        .map(([key]) => key)
        .sort()
