/**
 * Checks these conventions, each in the packages that `conventions.json` lists:
 * - a service declares its interface in the class head: no `Effect.Success<typeof make>`, no `*Shape` interface;
 * - a file that exports one service is named after it, and the key of a service is its package and path;
 * - imports are sorted: packages and Node modules by name, then files, those of other folders first;
 * - tests read no clock, use no timers (`Date.now`, `setTimeout`, `sleep`) and poll with `Eventually.ts` (no `Effect.repeat`, no
 *   `Effect.retry`), except for the files that are listed with the reason;
 * - classes hide members with `#`; only constructors are `private`; constants are not in capital letters;
 * - no decision depends on the text of an error, which may change: use a code or a field;
 * - a message that includes another message uses `clause` or `ended` of domain/values/Sentence, so that it has one full stop;
 * - sources reach sockets, files, processes, timers, clocks and random bytes through the seams of `platform`, so that a simulation can
 *   replace them; Effect's services (`FileSystem`, `Clock`, `Random`) are seams as well;
 * - the body of a generator has at most 80 lines: longer ones become named functions over a state, so that a search for the verb
 *   finds it;
 * - the lists contain no file that no longer needs its exception.
 * `--fix` sorts imports.
 *
 * One file above 300 lines, because each rule is a few lines over the same parsed sources, which are read once for all of them.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")
const {
  errorTexts,
  importOrder,
  longGenerators,
  machine,
  noTimersInTests,
  allPackages,
  realTimeInTests,
  serviceIdiom,
  serviceNames
} = JSON.parse(readFileSync(join(root, "tools/lint/conventions.json"), "utf8"))
const fix = process.argv.includes("--fix")
const found = []

const filesOf = (name, kinds) =>
  kinds.flatMap((kind) =>
    globSync(`packages/${name}/${kind}/**/*.ts`, { cwd: root }).map((file) => file.replaceAll("\\", "/"))
  )
const once = (read) => {
  const known = new Map()
  return (file) => known.get(file) ?? known.set(file, read(file)).get(file)
}
const textOf = once((file) => readFileSync(join(root, file), "utf8"))
const sourceOf = once((file) => ts.createSourceFile(file, textOf(file), ts.ScriptTarget.ESNext, true))
const placeOf = (source, node) =>
  `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`

/** The arguments of `Context.Service<Self, Interface>`, where a class extends one. */
const interfaceOf = (node) => {
  if (!ts.isClassDeclaration(node)) return undefined
  const extended = node.heritageClauses?.[0]?.types[0]?.expression
  const call = extended && ts.isCallExpression(extended) ? extended.expression : undefined
  return call && ts.isCallExpression(call) && call.expression.getText() === "Context.Service"
    ? call.typeArguments?.[1]
    : undefined
}

for (const file of serviceIdiom.flatMap((name) => filesOf(name, ["src", "test", "bench"]))) {
  const source = sourceOf(file)
  ts.forEachChild(source, (node) => {
    const type = interfaceOf(node)
    if (type === undefined || ts.isTypeLiteralNode(type)) return
    const name = type.getText(source)
    if (/^Effect\.Success<|Shape\b/.test(name))
      found.push(`${placeOf(source, type)}: declare the interface of a service in its class head, not in ${name}`)
  })
}

/** The key of a service: `Context.Service<...>()("key")`, and so for middleware. */
const keyOf = (node) => {
  const extended = ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression : undefined
  const made = extended && ts.isCallExpression(extended) ? extended.expression : undefined
  const isService =
    made && ts.isCallExpression(made) && /^(?:Context|HttpApiMiddleware)\.Service$/.test(made.expression.getText())
  const [key] = isService ? extended.arguments : []
  return key && ts.isStringLiteral(key) ? key : undefined
}

for (const file of serviceNames.flatMap((name) => filesOf(name, ["src"]))) {
  const source = sourceOf(file)
  const path = file.replace(/^packages\/([^/]+)\/src\/(.*)\.ts$/, "$1/$2")
  for (const node of source.statements) {
    const key = keyOf(node)
    const wanted = node.name?.text === basename(file, ".ts") ? path : `${path}/${node.name?.text}`
    if (key !== undefined && key.text !== wanted)
      found.push(`${placeOf(source, key)}: the key of ${node.name.text} is "${wanted}"`)
  }
  if (/\bEffect\.Success<(?:ReturnType<)?typeof make\b/.test(source.text))
    found.push(`${file}: declare an interface for what a module makes, not Effect.Success<typeof make>`)
  const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  const services = source.statements.filter((node) => interfaceOf(node) !== undefined && isExported(node))
  const [service] = services
  if (services.length === 1 && service.name.text !== basename(file, ".ts"))
    found.push(`${placeOf(source, service)}: the file of the service ${service.name.text} is ${service.name.text}.ts`)
}

/** Packages before files, files of folders further up before those of this one. */
const rankOf = (specifier) =>
  specifier.startsWith("./") ? 1000 : specifier.startsWith(".") ? 500 - specifier.split("../").length : 0
const compare = (a, b) =>
  rankOf(a) - rankOf(b) || (a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : 0)

for (const file of importOrder.flatMap((name) => filesOf(name, ["src", "test", "bench"]))) {
  const source = sourceOf(file)
  const imports = source.statements.filter((node) => ts.isImportDeclaration(node) && node.importClause !== undefined)
  const named = imports.map((node) => ({ node, name: node.moduleSpecifier.text }))
  const wrong = named.find(({ name }, place) => place > 0 && compare(named[place - 1].name, name) > 0)
  if (wrong === undefined) continue
  const block = source.text.slice(imports[0].getStart(source), imports.at(-1).end)
  const texts = named.map(({ name, node }) => ({ name, text: node.getText(source) }))
  const alone = block === texts.map(({ text }) => text).join("\n")
  if (fix && alone) {
    const sorted = texts.toSorted((a, b) => compare(a.name, b.name)).map(({ text }) => text)
    writeFileSync(
      join(root, file),
      source.text.replace(block, () => sorted.join("\n"))
    )
  } else found.push(`${placeOf(source, wrong.node)}: the import of ${wrong.name} is out of order`)
}

const timing = /\bDate\.now\(|(?<![.\w])setTimeout\(|\bEffect\.(?:sleep|repeat|retry)\(|(?<![.\w])sleep\(/
const withoutComments = (text) => text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "$1")
const timed = new Set(
  noTimersInTests
    .flatMap((name) => filesOf(name, name === "testing" ? ["src"] : ["test"]))
    .filter((file) => timing.test(withoutComments(textOf(file))))
)
const shouted = /^(?:export )?const [A-Z][A-Z_]{2,} =/
for (const file of allPackages.flatMap((name) => filesOf(name, ["src", "test", "bench"])))
  for (const [index, line] of textOf(file).split("\n").entries())
    if (shouted.test(line)) found.push(`${file}:${index + 1}: write constants in camelCase`)

const hidden = /^\s+(?:private|protected) (?!constructor\b)/
for (const file of allPackages.flatMap((name) => filesOf(name, ["src", "test", "bench"])))
  for (const [index, line] of textOf(file).split("\n").entries())
    if (hidden.test(line)) found.push(`${file}:${index + 1}: hide members with #`)

/** A text of another place in a template, before a full stop, a semicolon or the next sentence. */
const takenUp = /\$\{((?:[^{}]|\{[^{}]*\})*)\}(?:[.;](?=[\s`"\\])| [A-Z](?=[a-z ]))/g
const fromElsewhere =
  /\.(?:message|detail)\b|\b(?:message|detail|why|reason|said|failure|unusable|failed|remedy)$|\bString\(|\bwords\(|\w+Problem\(/
const joins = allPackages.filter((name) => name !== "platform" && name !== "crypto")
for (const file of joins.flatMap((name) => filesOf(name, ["src"])))
  for (const [index, line] of textOf(file).split("\n").entries())
    for (const [, text] of line.length > 1000 ? [] : line.matchAll(takenUp))
      if (fromElsewhere.test(text) && !/\b(?:clause|ended|quoted)\b/.test(text))
        found.push(`${file}:${index + 1}: \`${text}\` may end with a full stop; use clause(...) or ended(...)`)

/** What looks into a text: the methods of strings, and those of expressions by what they are given. */
const looks = new Set(["includes", "startsWith", "endsWith", "match", "matchAll", "search", "indexOf"])
const applied = new Set(["test", "exec"])
const unwrapped = (node) => {
  for (;;) {
    if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAwaitExpression(node))
      node = node.expression
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
      node = node.left
    else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
      if (/^to(?:Lower|Upper)Case$|^trim$/.test(node.expression.name.text)) node = node.expression.expression
      else return node
    else return node
  }
}
/** `error.message`, `error.stack`, `String(error)`, and what a pattern has taken from there. */
const isErrorText = (given) => {
  const node = unwrapped(given)
  if (ts.isPropertyAccessExpression(node)) return /^(?:message|stack|why)$/.test(node.name.text)
  if (ts.isIdentifier(node)) return /^(?:message|why)$/.test(node.text)
  return (
    ts.isCallExpression(node) &&
    node.expression.getText() === "String" &&
    /^(?:error|cause)$/.test(node.arguments[0]?.getText() ?? "")
  )
}
const isSomeText = (node) => ts.isStringLiteralLike(node) && node.text !== ""
const isEquality = ({ operatorToken: { kind } }) =>
  kind === ts.SyntaxKind.EqualsEqualsEqualsToken || kind === ts.SyntaxKind.ExclamationEqualsEqualsToken
/** Whether what happens next hangs on an error's text here. */
const hangsOnText = (node) => {
  if (ts.isSwitchStatement(node)) return isErrorText(node.expression)
  if (ts.isBinaryExpression(node))
    return (
      isEquality(node) &&
      ((isErrorText(node.left) && isSomeText(node.right)) || (isErrorText(node.right) && isSomeText(node.left)))
    )
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  const { expression, name } = node.expression
  if (looks.has(name.text)) return isErrorText(expression)
  return applied.has(name.text) && node.arguments[0] !== undefined && isErrorText(node.arguments[0])
}
const readsTexts = new Set()
for (const file of allPackages.flatMap((name) => filesOf(name, ["src"]))) {
  const source = sourceOf(file)
  const visit = (node) => {
    if (hangsOnText(node)) {
      readsTexts.add(file)
      if (!(file in errorTexts))
        found.push(`${placeOf(source, node)}: decide by a code or a field of the error, not by its text`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}
for (const file of Object.keys(errorTexts))
  if (!readsTexts.has(file))
    found.push(`tools/lint/conventions.json: ${file} no longer reads the text of an error; remove it from the list`)

/** Where a machine's own modules are used: the seams, what moves bytes, and what runs in another runtime. */
const atMachine = /^packages\/(?:platform\/src\/|testing\/|wire\/src\/(?:transport|quic\/side)\/)/
const machineModules = new Set(
  [
    "net",
    "tls",
    "http",
    "https",
    "http2",
    "dgram",
    "fs",
    "fs/promises",
    "child_process",
    "dns",
    "dns/promises",
    "timers",
    "timers/promises"
  ].map((name) => `node:${name}`)
)
const randomness = new Set([
  "generateKeyPair",
  "generateKeyPairSync",
  "randomBytes",
  "randomFill",
  "randomFillSync",
  "randomInt",
  "randomUUID",
  "getRandomValues"
])
const timers = new Set(["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"])
const others = new Set(["fetch", "AbortSignal.timeout"])
const clocks = new Set(["Date.now", "performance.now", "process.hrtime", "process.hrtime.bigint", "Math.random"])
const monotonic = "@catenet/wire/transport/MonotonicClock"

/** What of a machine a node reaches past the seams, if it does. */
const reached = (node) => {
  if (ts.isImportDeclaration(node)) {
    const {
      importClause: clause,
      moduleSpecifier: { text }
    } = node
    if (clause === undefined || clause.isTypeOnly) return undefined
    const names = clause.namedBindings
    const values =
      names && ts.isNamedImports(names) ? names.elements.filter(({ isTypeOnly }) => !isTypeOnly) : undefined
    if (machineModules.has(text)) return values?.length === 0 ? undefined : text
    if (text === monotonic) return text
    if (text !== "node:crypto") return undefined
    return values?.map(({ name, propertyName }) => (propertyName ?? name).text).find((name) => randomness.has(name))
  }
  if (ts.isNewExpression(node))
    return node.expression.getText() === "Date" && (node.arguments?.length ?? 0) === 0 ? "new Date()" : undefined
  if (!ts.isCallExpression(node)) return undefined
  const called = node.expression.getText()
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return machineModules.has(node.arguments[0]?.text) ? node.arguments[0].text : undefined
  const last = called.split(".").at(-1) ?? ""
  if (/^(?:globalThis\.)?(?:web)?crypto\./.test(called) && randomness.has(last)) return called
  return timers.has(called.replace(/^globalThis\./, "")) || clocks.has(called) || others.has(called)
    ? called
    : undefined
}
const reaching = new Set()
for (const file of allPackages.flatMap((name) => filesOf(name, ["src"])).filter((file) => !atMachine.test(file))) {
  const source = sourceOf(file)
  const visit = (node) => {
    const what = reached(node)
    if (what !== undefined) {
      reaching.add(file)
      if (!(file in machine))
        found.push(`${placeOf(source, node)}: reach ${what} through a seam of @catenet/platform or a service of Effect`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}
for (const file of Object.keys(machine))
  if (!reaching.has(file))
    found.push(`tools/lint/conventions.json: ${file} no longer reaches past the seams; remove it from the list`)

const mostLines = 80
const long = new Set()
for (const file of allPackages.flatMap((name) => filesOf(name, ["src"]))) {
  const source = sourceOf(file)
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node) => {
    const lines = node.asteriskToken && node.body ? lineOf(node.body.end) - lineOf(node.body.getStart(source)) - 1 : 0
    if (lines > mostLines) {
      long.add(file)
      if (!longGenerators.includes(file))
        found.push(`${placeOf(source, node)}: give the parts of this generator of ${lines} lines names of their own`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}
for (const file of longGenerators)
  if (!long.has(file))
    found.push(`tools/lint/conventions.json: ${file} has no long generator any more; remove it from the list`)

const named = new Set(Object.values(realTimeInTests).flat())
for (const file of timed)
  if (!named.has(file)) found.push(`${file}: use TestClock or \`eventually\` in tests, not a timer or the system clock`)
for (const file of named)
  if (!timed.has(file))
    found.push(`tools/lint/conventions.json: ${file} no longer reads a clock; remove it from the list`)

if (found.length > 0) {
  process.stderr.write(`Conventions:\n${found.join("\n")}\n`)
  process.exit(1)
}
