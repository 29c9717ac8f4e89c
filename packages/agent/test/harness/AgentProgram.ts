/** What starts the agent: as it is published where the run has built it, else from its sources. */
import { fileURLToPath } from "node:url"

export const agentProgram =
  process.env["CATENET_TEST_AGENT"] ?? fileURLToPath(new URL("../../src/main.ts", import.meta.url))
