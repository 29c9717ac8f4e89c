/**
 * How often every property of a package is tried: 1,000 times, or CATENET_PROPERTY_RUNS times.
 * `CATENET_PROPERTY_RUNS=100000 npm run test:unit -- --project domain` is the long run.
 */
export const propertyRuns = Number(process.env["CATENET_PROPERTY_RUNS"] ?? 1000)

/** The options of a property that is tried so often. */
export const often = { arbitrary: { runs: propertyRuns } }
