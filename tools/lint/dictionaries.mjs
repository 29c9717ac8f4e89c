/**
 * Finds plain objects that are indexed by a text that is not known when the program is written: `table[name]` and
 * `name in table`. A name that came with input may be `constructor` or `__proto__`, which every plain object answers to.
 * A `Map`, effect's `Record.get` and `Object.entries` have no such names.
 */
import { dirname, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")

/** Files that index an object of their own making, and why it cannot go wrong. */
const allowed = new Map([
  ["packages/crypto/src/Json.ts", "its objects have no prototype, and it prints keys that are there"]
])

const settings = ts.readConfigFile(resolve(root, "tsconfig.json"), ts.sys.readFile).config
const { fileNames, options } = ts.parseJsonConfigFileContent(
  { ...settings, include: ["packages/*/src"], exclude: ["packages/testing"] },
  ts.sys,
  root
)
const program = ts.createProgram(fileNames, { ...options, incremental: false, tsBuildInfoFile: undefined })
const checker = program.getTypeChecker()

const texts = ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.Any | ts.TypeFlags.Unknown
const mayBeAnyText = (type) =>
  type.isUnionOrIntersection() ? type.types.some(mayBeAnyText) : (type.flags & texts) !== 0

/** The key of an access to a member, where it stands in the program as an expression. */
const keyOf = (node) => {
  if (ts.isElementAccessExpression(node)) return node.argumentExpression
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword ? node.left : undefined
}

const found = []
const used = new Set()
const visit = (source, file, node) => {
  const key = keyOf(node)
  if (key !== undefined && !ts.isLiteralExpression(key) && mayBeAnyText(checker.getTypeAtLocation(key))) {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
    if (allowed.has(file)) used.add(file)
    else found.push(`${file}:${line}: ${node.getText(source).replaceAll(/\s+/g, " ")}`)
  }
  ts.forEachChild(node, (child) => visit(source, file, child))
}

for (const source of program.getSourceFiles()) {
  const file = relative(root, source.fileName).replaceAll("\\", "/")
  if (/^packages\/[^/]+\/src\//.test(file)) visit(source, file, source)
}
for (const file of allowed.keys())
  if (!used.has(file)) found.push(`${file}: indexes nothing any more; take it off the list`)

if (found.length > 0) {
  process.stderr.write(`Plain objects indexed by a text; use a Map or Record.get:\n${found.join("\n")}\n`)
  process.exit(1)
}
