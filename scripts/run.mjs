/** Entry point of every npm script: sets the workspace up, then runs a task on the Node that Catenet needs. */
import { spawn } from "node:child_process"
import { delimiter, dirname, join } from "node:path"
import { exec } from "./exec.mjs"
import { followParent } from "./follow.mjs"
import { installDependencies, installLinters } from "./install.mjs"
import { findNode, root } from "./node.mjs"

const [task = "start", ...rest] = process.argv.slice(2)
const from = (...path) => join(root, "node_modules", ...path)

if (process.env.npm_lifecycle_event !== undefined) followParent()
installDependencies()
const node = findNode()
const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${from(".bin")}${delimiter}${process.env.PATH ?? ""}` }

/** Programs that are started often are compiled once; a benchmark compiles, as those do who start a program once. */
if (task !== "bench" && task !== "build" && task !== "release" && task !== "package")
  env.NODE_COMPILE_CACHE ??= from(".cache", "catenet", "compiled")

/**
 * Runs one tool. The terminal sends Ctrl-C to the whole group, so only other signals are passed on. Tools that run side by side
 * are quiet: their output comes whole when they end.
 */
const start = (isQuiet, script, args) =>
  new Promise((resolve) => {
    const stdio = isQuiet ? ["ignore", "pipe", "pipe"] : "inherit"
    const child = spawn(node, [script, ...args], { stdio, env, cwd: root })
    const output = []
    for (const stream of isQuiet ? [child.stdout, child.stderr] : []) stream.on("data", (bytes) => output.push(bytes))
    const ignore = () => {}
    const pass = (signal) => child.kill(signal)
    process.on("SIGINT", ignore)
    process.on("SIGTERM", pass)
    process.on("SIGHUP", pass)
    child.on("close", (code, signal) => {
      process.off("SIGINT", ignore)
      process.off("SIGTERM", pass)
      process.off("SIGHUP", pass)
      process.stderr.write(Buffer.concat(output))
      resolve(code ?? (signal === "SIGINT" ? 130 : 143))
    })
  })
const run = (script, ...args) => start(false, script, args)
const runQuietly = (script, ...args) => start(true, script, args)

/** With one checker: each further one works out anew what it has in common with the others, which doubles the processor time. */
const check = (by = run) =>
  by(from("typescript", "bin", "tsc"), "--noEmit", "--checkers", "1", "-p", join(root, "tsconfig.json"))
const lint = (by = run) => {
  installLinters()
  const linters = [
    by(join(root, "tools", "lint", "node_modules", "oxlint", "bin", "oxlint"), "--deny-warnings", "."),
    ...["conventions", "dictionaries", "unusedExports"].map((name) => by(join(root, "tools", "lint", `${name}.mjs`)))
  ]
  return Promise.all(linters).then((codes) => Math.max(...codes))
}
const prettier = (mode, by = run) =>
  by(from("prettier", "bin", "prettier.cjs"), mode, "--log-level=warn", "--cache", ".")
const vitest = (...args) => run(from("vitest", "vitest.mjs"), "run", "--config", "vitest.workspace.ts", ...args)

const steps = async (...tasks) => {
  let worst = 0
  for (const [name, step] of tasks) {
    process.stderr.write(`\n== ${name}\n`)
    worst = Math.max(worst, await step())
  }
  return worst
}

/** The whole check: types, lint and format one after the other, beside the tests, since the first tests leave processor time. */
const test = async (...args) => {
  const statics = async () => {
    let worst = 0
    for (const [name, step] of [
      ["types", () => check(runQuietly)],
      ["lint", () => lint(runQuietly)],
      ["format", () => prettier("--check", runQuietly)]
    ]) {
      const code = await step()
      process.stderr.write(`\n== ${name}: ${code === 0 ? "passed" : `FAILED with ${code}`}\n`)
      worst = Math.max(worst, code)
    }
    return worst
  }
  process.stderr.write("\n== tests, with types, lint and format beside them\n")
  const [beside, tests] = await Promise.all([statics(), vitest(...args)])
  if (beside !== 0) process.stderr.write("\nTypes, lint or format FAILED: see above.\n")
  return Math.max(beside, tests)
}

/** Becomes the program; it exits by itself. */
const become = (program, ...args) => {
  process.chdir(root)
  exec(node, join(root, "packages", program, "src", "main.ts"), args, env)
  return new Promise(() => {})
}

/**
 * What the gate runs in a short form, in full, one after the other: about four hours. Variables that are set already win;
 * arguments choose among the campaigns.
 */
const campaign = () => {
  const full = {
    CATENET_PROPERTY_RUNS: "1000",
    CATENET_STORM_AGENTS: "1000",
    CATENET_FAIR_SCALE: "64",
    CT_FUZZ_CASES: "50000",
    CT_MEMBER_CASES: "50000",
    CT_DIFFERENTIAL_CASES: "20000",
    CT_QUIC_FLOOD_MILLIS: "20000",
    FUZZ_REQUESTS: "100000",
    CT_TEXT_CALLERS: "all",
    CT_VALID_CASES: "200",
    CATENET_NAMES: "10000",
    PLAN_ROWS: "100000",
    FAULT_KILLS: "6",
    FAULT_RUNS: "3",
    CATENET_SOAK_SECONDS: "1800",
    CATENET_CHANNEL_SOAK_SECONDS: "1800",
    CT_CAMPAIGN_ROUNDS: "100",
    CATENET_LONG_OUTAGES: "1",
    CATENET_CERTIFICATE_SECONDS: "360",
    CATENET_RENEWALS: "5",
    CT_MUTATED_RELEASES: "5000",
    CT_MUTATED_OFFERS: "5000",
    CT_MUTATED_LOGINS: "5000",
    CATENET_UPDATES: "1",
    CATENET_PACKAGES: "1",
    CATENET_SWITCH_RATE: "200",
    CATENET_SWITCH_SECONDS: "20",
    CATENET_OWN_NAME: "1",
    CATENET_SERVICES: "1",
    CATENET_MCP: "1",
    CATENET_MCP_CALL_SECONDS: "600"
  }
  for (const [name, value] of Object.entries(full)) env[name] ??= value
  const parts = [
    ["wire", "test/channels/"],
    ["stack", "test/fairness/"],
    ["edge", "test/channels/PairingRoom"],
    ["edge", "test/fuzz/"],
    ["stack", "test/differential/"],
    ["stack", "gate/GateTurn"],
    ["edge", "test/quic/QuicFloods"],
    ["agent", "test/fuzz/"],
    ["server", "test/fuzz/"],
    ["server", "test/faults/"],
    ["server", "test/store/Plans"],
    ["server", "test/certificates/"],
    ["domain", "test/"],
    ["crypto", "Mutated"],
    ["agent", "channel/Serving"],
    ["agent", "login/Credential"],
    ["agent", "mcp/"],
    ["stack", "agent/Keycloak"],
    ["stack", "agent/Mcp.test"],
    ["agent", "edge/ChannelKilled"],
    ["stack", "channels/RoomProcesses"],
    ["agent", "test/Killed"],
    ["agent", "acme/KilledWrites"],
    ["stack", "release/ReleaseScript"],
    ["e2e", "e2e/update"],
    ["stack", "test/packages/"],
    ["e2e", "channelKills"],
    ["e2e", "net/links"],
    ["e2e", "net/fleet"],
    ["duration", "e2e/soak"],
    ["duration", "channels/soak"],
    ["e2e", "certificate"],
    ["duration", "e2e/switch"],
    ["e2e", "ownName"],
    ["e2e", "e2e/services"]
  ]
  const isWanted = ([project, files]) => rest.length === 0 || rest.some((word) => `${project}/${files}`.includes(word))
  const wanted = parts.filter(isWanted)
  if (wanted.length === 0) {
    process.stderr.write(`No campaign is named so. There are: ${parts.map((part) => part.join("/")).join(", ")}.\n`)
    process.exit(2)
  }
  return steps(
    ...wanted.map(([project, files]) => [
      `${project}/${files}`,
      () => vitest("--project", project, "--maxWorkers=1", files)
    ])
  )
}

/**
 * Tries every small change of the given files (see packages/domain/mutation). `handshake` stands for the handshake, or for the files of
 * it that are named behind it, with all tests that work together.
 */
const mutation = () => {
  const main = join(root, "packages", "domain", "mutation", "main.ts")
  if (rest[0] !== "handshake") return run(main, ...rest)
  const crypto = join(root, "packages", "crypto")
  const noise = "Handshake HandshakePattern HybridAttacks Marks NoiseError NoiseFrame Transcripts Transport".split(" ")
  const tests = [...noise.map((name) => `noise/${name}`), "admission/KeyExchange"]
  const files =
    rest.length > 1 ? rest.slice(1) : ["noise", "admission/KeyExchange.ts"].map((name) => join(crypto, "src", name))
  const named = tests.flatMap((name) => ["--test", join(crypto, "test", `${name}.test.ts`)])
  return run(main, "--runs", "20", "--again", "50", ...named, ...files)
}

const tasks = {
  start: () => become("stack", "up", ...rest),
  catenet: () => become("stack", ...rest),
  agent: () => become("agent", ...rest),
  check: () => check(),
  lint: () => lint(),
  format: () => prettier("--write"),
  vitest: () => vitest(...rest),
  test: () => test(...rest),
  campaign,
  mutation,
  build: () => run(join(root, "scripts", "build.mjs"), ...rest),
  release: () => run(join(root, "scripts", "release.mjs"), ...rest),
  package: () => run(join(root, "scripts", "package.mjs"), ...rest),
  bench: () => run(join(root, "packages", "stack", "bench", "main.ts"), ...rest)
}

if (!Object.hasOwn(tasks, task)) {
  process.stderr.write(`There is no task "${task}". The tasks are: ${Object.keys(tasks).join(", ")}.\n`)
  process.exit(2)
}
process.exit(await tasks[task]())
