import { defineConfig } from "vitest/config"

const postgres = ["../stack/test/postgres.setup.ts"]
const withDatabase = new Set(["server", "stack"])

const unit = (name: string) => ({
  test: {
    ...(withDatabase.has(name) ? { globalSetup: postgres } : {}),
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    exclude: ["test/**/*.e2e.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})

/** End-to-end tests start whole processes on two cores, so their files run one after the other, after all others. */
const endToEnd = {
  test: {
    name: "e2e",
    root: "packages/stack",
    globalSetup: postgres,
    include: ["test/**/*.e2e.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    fileParallelism: false,
    sequence: { groupOrder: 1 }
  }
}

export default defineConfig({
  test: {
    reporters: ["default"],
    maxWorkers: 2,
    projects: [...["domain", "crypto", "wire", "server", "edge", "agent", "idp", "stack"].map(unit), endToEnd]
  }
})
