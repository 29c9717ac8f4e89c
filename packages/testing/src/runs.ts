/**
 * Runs of each property: 100, or CATENET_PROPERTY_RUNS. The campaign sets 1,000; a longer search is
 * `CATENET_PROPERTY_RUNS=100000 npm run test:unit -- --project domain`.
 */
export const propertyRuns = Number(process.env["CATENET_PROPERTY_RUNS"] ?? 100)

/** The options of a property that is tried so often. */
export const often = { arbitrary: { runs: propertyRuns } }
