/** What starts the platform. */
import { fileURLToPath } from "node:url"

/** Its sources: a checkout builds the agent's package that it serves. */
export const platformSources = fileURLToPath(new URL("../../../stack/src/main.ts", import.meta.url))

/** As it is published, where the run has built it. */
export const platformProgram = process.env["CATENET_TEST_PLATFORM"] ?? platformSources
