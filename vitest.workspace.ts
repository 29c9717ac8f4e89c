import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

const postgres = "../testing/src/setup/postgres.ts"
const agent = "../testing/src/setup/agentProgram.ts"
const programs = "../testing/src/setup/allPrograms.ts"
/** What is there before the first test of a package. */
const setups: Readonly<Record<string, ReadonlyArray<string>>> = {
  agent: [postgres, agent],
  server: [postgres, programs],
  stack: [postgres, programs]
}
/** Where listeners that pile up on a connection are found by a warning of the process, which fails the test. */
const carryingConnections = new Set(["wire", "proxy", "edge"])

/** Of a worker's processor time, a twelfth went into collecting what dies young. */
const execArgv = ["--max-semi-space-size=32"]

/** For what hangs. How long something may take is said by the test that holds it, and a slow machine breaks none. */
const patience = { testTimeout: 180_000, hookTimeout: 180_000 }

const unit = (name: string) => ({
  test: {
    globalSetup: [...(setups[name] ?? [])],
    ...(carryingConnections.has(name) ? { setupFiles: ["../testing/src/setup/noWarnings.ts"] } : {}),
    name,
    execArgv,
    // Files share a worker and import what they need once, since they leave nothing behind: their layers end with their scopes.
    isolate: false,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    exclude: ["test/**/*.e2e.test.ts"],
    ...patience
  }
})

const wholeProcesses = {
  root: "packages/stack",
  isolate: false,
  execArgv,
  globalSetup: [postgres, programs],
  testTimeout: 300_000,
  hookTimeout: 300_000
}

/** End-to-end tests start whole processes. What lasts for minutes in a campaign has a project of its own. */
const lasting = ["test/**/soak.e2e.test.ts", "test/**/switch.e2e.test.ts"]
const duration = { test: { ...wholeProcesses, name: "duration", include: lasting } }
const endToEnd = { test: { ...wholeProcesses, name: "e2e", include: ["test/**/*.e2e.test.ts"], exclude: lasting } }

/**
 * The order in which projects begin; none waits for the end of the one before. Those that wait for most of their time are in
 * the middle, those of many short files at the end, so that the processors have work until all is over.
 */
const order = [
  "agent",
  "duration",
  "e2e",
  "edge",
  "stack",
  "server",
  "wire",
  "idp",
  "proxy",
  "platform",
  "crypto",
  "domain"
]

/** Begun first in the last of the long projects; of the others the largest files are. */
const longest = ["portal/browser/Looks", "faults/Faults", "alerts/AlertsKilled"]

class ByProject extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const placeOf = ({ moduleId, project }: TestSpecification) =>
      order.indexOf(project.name) - (longest.some((name) => moduleId.includes(name)) ? 0.5 : 0)
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: ByProject },
    // More than there are processors: a test that uses sockets and processes waits for most of its time.
    maxWorkers: 5,
    projects: [...order.filter((name) => name !== "duration" && name !== "e2e").map(unit), duration, endToEnd]
  }
})
