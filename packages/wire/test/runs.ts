/** How often a property is tried: 1,000 times, or as often as `CATENET_PROPERTY_RUNS` says (100000 for a long run). */
export const propertyRuns = { arbitrary: { runs: Number(process.env["CATENET_PROPERTY_RUNS"] ?? 1000) } }
