/** What benchmarks and tests, which are TypeScript, use of `install.mjs`. */
export declare const installBenchDriver: () => void
export declare const installOpenApiTools: () => void
export declare const installMcpPrograms: () => void
export declare const installGrpc: () => void
