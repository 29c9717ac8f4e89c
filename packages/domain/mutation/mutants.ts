/**
 * Every small change of a source text that a test ought to notice: comparisons, arithmetic, logic and constants, one at a time.
 * Types, imports, property names and regular expressions are left alone, and so is `??`.
 */
import { parseAst } from "rolldown/parseAst"

/** Replaces `source[start, end)` by `text`. */
export interface Mutant {
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const field = (node: Node, name: string): unknown => Reflect.get(node, name)

const nodeAt = (node: Node, name: string): Node | undefined => {
  const value = field(node, name)
  return isNode(value) ? value : undefined
}

const operators: Readonly<Record<string, ReadonlyArray<string>>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "**": ["*"],
  "&": ["|"],
  "|": ["&"],
  "^": ["&"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&&": ["||"],
  "||": ["&&"],
  "++": ["--"],
  "--": ["++"],
  "+=": ["-="],
  "-=": ["+="],
  "*=": ["/="],
  "/=": ["*="],
  "|=": ["&="],
  "&=": ["|="],
  "^=": ["&="],
  "<<=": [">>="],
  ">>=": ["<<="]
}

/** A map, because a record would answer for `toString` too. */
const methods: ReadonlyMap<string, string> = new Map([
  ["some", "every"],
  ["every", "some"],
  ["min", "max"],
  ["max", "min"],
  ["floor", "ceil"],
  ["ceil", "floor"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"]
])

/** Wrappers that only the type checker sees, around an expression that runs. */
const transparent = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSInstantiationExpression"
])

const plain = new Set(["Identifier", "CallExpression", "MemberExpression"])

const literal = (node: Node, source: string): ReadonlyArray<string> => {
  const text = source.slice(node.start, node.end)
  const value = field(node, "value")
  if (typeof value === "boolean") return [String(!value)]
  if (typeof value === "string") return [value === "" ? '"mutant"' : '""']
  if (typeof value === "number") return value >= 1 ? [`(${text} + 1)`, `(${text} - 1)`] : [`(${text} + 1)`]
  return typeof value === "bigint" ? (value >= 1n ? [`(${text} + 1n)`, `(${text} - 1n)`] : [`(${text} + 1n)`]) : []
}

/** The parser counts the delimiters on both sides to the text between two substitutions. */
const quasi = (node: Node, source: string): Mutant => {
  const start = node.start + (/[`}]/.test(source.charAt(node.start)) ? 1 : 0)
  const tail = /(?:`|\$\{)$/.exec(source.slice(start, node.end))
  return { start, end: node.end - (tail?.[0].length ?? 0), text: "" }
}

const here = (node: Node, source: string): ReadonlyArray<Mutant> => {
  const replace = (texts: ReadonlyArray<string>) => texts.map((text) => ({ start: node.start, end: node.end, text }))
  const operator = field(node, "operator")
  const [left, right] = [nodeAt(node, "left"), nodeAt(node, "right")]
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression": {
      if (typeof operator !== "string" || left === undefined || right === undefined) return []
      const start = source.indexOf(operator, left.end)
      const end = start + operator.length
      return (operators[operator] ?? []).map((text) => ({ start, end, text }))
    }
    case "UpdateExpression": {
      if (typeof operator !== "string") return []
      const start = source.indexOf(operator, node.start)
      return (operators[operator] ?? []).map((text) => ({ start, end: start + operator.length, text }))
    }
    case "UnaryExpression": {
      const argument = nodeAt(node, "argument")
      return argument !== undefined && (operator === "!" || operator === "-" || operator === "~")
        ? [{ start: node.start, end: node.start + operator.length, text: "" }]
        : []
    }
    case "IfStatement":
    case "ConditionalExpression": {
      const test = nodeAt(node, "test")
      return test !== undefined && plain.has(test.type)
        ? [{ start: test.start, end: test.end, text: `!(${source.slice(test.start, test.end)})` }]
        : []
    }
    case "CallExpression": {
      const callee = nodeAt(node, "callee")
      const property = callee?.type === "MemberExpression" ? nodeAt(callee, "property") : undefined
      const swapped = property === undefined ? undefined : methods.get(source.slice(property.start, property.end))
      return property === undefined || swapped === undefined
        ? []
        : [{ start: property.start, end: property.end, text: swapped }]
    }
    case "Literal":
      return replace(literal(node, source))
    case "TemplateElement":
      return [quasi(node, source)].filter(({ end, start }) => end > start)
    default:
      return []
  }
}

/** `Schema.brand("Name")` names a type; at run time it does nothing. */
const isBrand = (node: Node, source: string): boolean => {
  const callee = node.type === "CallExpression" ? nodeAt(node, "callee") : undefined
  return callee !== undefined && source.slice(callee.start, callee.end) === "Schema.brand"
}

const children = (node: Node, source: string): ReadonlyArray<Node> => {
  if (isBrand(node, source)) return []
  if (transparent.has(node.type)) return [nodeAt(node, "expression")].filter(isNode)
  if (node.type.startsWith("TS") || node.type === "ImportDeclaration") return []
  const named = (node.type === "Property" || node.type === "PropertyDefinition") && field(node, "computed") !== true
  return Object.entries(node).flatMap(([name, value]) => {
    if (named && name === "key") return []
    return (Array.isArray(value) ? value : [value]).filter(isNode)
  })
}

const walk = (node: Node, source: string, visit: (node: Node) => void): void => {
  visit(node)
  for (const child of children(node, source)) walk(child, source, visit)
}

const parse = (source: string): Node => {
  const program: unknown = parseAst(source, { lang: "ts" })
  if (!isNode(program)) throw new Error("the parser returned no program")
  return program
}

/** All mutants of a TypeScript source, in the order of the text. Every one of them is a program. */
export const mutantsOf = (source: string): ReadonlyArray<Mutant> => {
  const found: Array<Mutant> = []
  walk(parse(source), source, (node) => found.push(...here(node, source)))
  for (const mutant of found) parse(apply(source, mutant))
  return found.toSorted((x, y) => x.start - y.start)
}

/** The source with one change. */
export const apply = (source: string, { end, start, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end)

const loops = new Set(["ForStatement", "ForOfStatement", "ForInStatement", "WhileStatement", "DoWhileStatement"])

/** The source with a call of `guard` in the body of every loop, so that a loop without end can be left. */
export const guarded = (source: string, guard: string): string => {
  const insertions: Array<readonly [number, string]> = []
  walk(parse(source), source, (node) => {
    const body = loops.has(node.type) ? nodeAt(node, "body") : undefined
    if (body === undefined) return
    if (body.type === "BlockStatement") insertions.push([body.start + 1, ` ${guard}();`])
    else insertions.push([body.start, `{ ${guard}(); `], [body.end, " }"])
  })
  return insertions
    .toSorted(([x], [y]) => y - x)
    .reduce((text, [at, inserted]) => text.slice(0, at) + inserted + text.slice(at), source)
}
