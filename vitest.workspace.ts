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
/**
 * Files share a worker and import what they need once, since they leave nothing behind for the next one: their layers end with
 * their scopes. Those of `stack` set variables of the process and start programs, so each has a worker of its own.
 */
const isolated = new Set(["stack"])

/** Where listeners that pile up on a connection are found by a warning of the process, which fails the test. */
const carryingConnections = new Set(["wire", "proxy", "edge"])

/** For what hangs. How long something may take is said by the test that holds it, and a slow machine breaks none. */
const patience = { testTimeout: 180_000, hookTimeout: 180_000 }

const unit = (name: string) => ({
  test: {
    globalSetup: [...(setups[name] ?? [])],
    ...(carryingConnections.has(name) ? { setupFiles: ["../testing/src/setup/noWarnings.ts"] } : {}),
    name,
    isolate: isolated.has(name),
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    exclude: ["test/**/*.e2e.test.ts"],
    ...patience
  }
})

const wholeProcesses = {
  root: "packages/stack",
  globalSetup: [postgres, programs],
  testTimeout: 300_000,
  hookTimeout: 300_000,
  sequence: { groupOrder: 1 }
}

/**
 * End-to-end tests start whole processes, so they run after all others. What lasts for minutes has a project of its own, which
 * is begun first (projects go by their names) and takes one of the workers: the other files run beside it.
 */
const lasting = ["test/**/soak.e2e.test.ts", "test/**/switch.e2e.test.ts"]
const duration = { test: { ...wholeProcesses, name: "duration", include: lasting } }
const endToEnd = { test: { ...wholeProcesses, name: "e2e", include: ["test/**/*.e2e.test.ts"], exclude: lasting } }

/** Begun first in their projects, so that none of them is left to run alone at the end. */
const longest = [
  "e2e/publish",
  "e2e/update.",
  "net/fleet",
  "net/links",
  "e2e/channelKills",
  "e2e/up.",
  "packages/Deb",
  "packages/Texts",
  "channels/Cuts",
  "gate/LoginGate"
]

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const usual = await super.sort(files)
    const projects = [...new Set(usual.map(({ project }) => project.name))]
    const placeOf = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((name) => moduleId.includes(`/test/${name}`))
      return at < 0 ? longest.length : at
    }
    return usual.toSorted(
      (a, b) => projects.indexOf(a.project.name) - projects.indexOf(b.project.name) || placeOf(a) - placeOf(b)
    )
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // More than there are processors: a test that uses sockets and processes waits for most of its time.
    maxWorkers: 4,
    projects: [
      ...["platform", "domain", "crypto", "wire", "proxy", "server", "edge", "agent", "idp", "stack"].map(unit),
      duration,
      endToEnd
    ]
  }
})
