/** What starts the agent. */
import { fileURLToPath } from "node:url"

/** Its sources, in which what is loaded before them can change classes. */
export const agentSources = fileURLToPath(new URL("../../../agent/src/main.ts", import.meta.url))

/** As it is published, where the run has built it. */
export const agentProgram = process.env["CATENET_TEST_AGENT"] ?? agentSources
