/** What the benchmarks, which are TypeScript, use of `install.mjs`. */
export declare const installBenchDriver: () => void
