/**
 * Finds exports that no other file of a program uses: what nothing reaches, and what only tests reach. Two may stand: a type or
 * an error that its own file uses, as a part of a signature; and what its own file uses and a test holds, as a limit. The list
 * beside this file names what waits for its user, and why.
 *
 * It reads syntax alone: `import { a }`, `import * as A` with the members that are taken of it, `export ... from`, `import()`.
 * A tool that starts from a package's entries finds nothing here, since a manifest lists most modules as entries.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..")
const { packages, allowed: reasons } = JSON.parse(readFileSync(join(root, "tools/lint/unusedExports.json"), "utf8"))
const report = process.argv.includes("--all")

const files = globSync(["packages/*/{src,test,bench,mutation}/**/*.ts", "{scripts,tools}/**/*.{mjs,ts}"], {
  cwd: root,
  exclude: (path) => path.includes("node_modules")
}).map((file) => file.replaceAll("\\", "/"))
const isTest = (file) => /^packages\/(?:[^/]+\/test|testing)\//.test(file)

/** The exported modules of a package, as its manifest lists them. */
const manifests = new Map()
const manifestOf = (name) => {
  if (!manifests.has(name))
    manifests.set(name, JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")).exports ?? {})
  return manifests.get(name)
}

/** The entry of a manifest for a subpath: the one of its name, else the pattern with the longest beginning (`./tunnels/*`). */
const entryOf = (entries, subpath) => {
  if (typeof entries[subpath] === "string") return entries[subpath]
  const [pattern] = Object.keys(entries)
    .filter((key) => key.endsWith("*") && subpath.startsWith(key.slice(0, -1)))
    .toSorted((a, b) => b.length - a.length)
  const target = pattern === undefined ? undefined : entries[pattern]
  return typeof target === "string" ? target.replace("*", subpath.slice(pattern.length - 1)) : undefined
}

/** The file of this workspace that a specifier means. */
const targetOf = (file, specifier) => {
  if (specifier.startsWith(".")) return relative(root, resolve(root, dirname(file), specifier)).replaceAll("\\", "/")
  const [, name, path] = /^@catenet\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  const entries = manifestOf(name)
  const entry = entryOf(entries, path === undefined ? "." : `./${path}`)
  return entry === undefined ? undefined : join("packages", name, entry).replaceAll("\\", "/")
}

const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false
const isError = ({ heritageClauses = [] }) => heritageClauses.some((clause) => /\bTaggedError\b/.test(clause.getText()))
const isType = (node) =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || (ts.isClassDeclaration(node) && isError(node))

const namesOf = (binding) =>
  ts.isIdentifier(binding)
    ? [binding]
    : binding.elements.flatMap((element) => (ts.isBindingElement(element) ? namesOf(element.name) : []))

/** Whether an identifier means a thing of its own scope: it is neither a member's name nor the name of a declaration. */
const refers = (node) => {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent)) return parent.left === node
  if (ts.isBindingElement(parent)) return parent.initializer === node
  return ts.isShorthandPropertyAssignment(parent) || parent.name !== node
}

/** What a file exports: name to place, and whether it is a type alone. */
const exportsOf = (source) => {
  const found = new Map()
  const add = (name, type) => {
    const before = found.get(name.text)
    const line = source.getLineAndCharacterOfPosition(name.getStart(source)).line + 1
    found.set(name.text, { line: before?.line ?? line, type: (before?.type ?? true) && type })
  }
  for (const node of source.statements) {
    if (ts.isExportDeclaration(node) && node.exportClause !== undefined && ts.isNamedExports(node.exportClause))
      for (const { name } of node.exportClause.elements) add(name, false)
    if (!isExported(node)) continue
    if (ts.isVariableStatement(node))
      for (const { name } of node.declarationList.declarations) for (const one of namesOf(name)) add(one, false)
    else if (node.name !== undefined) add(node.name, isType(node))
  }
  return found
}

/** Module to name to the files that use it; `*` stands for every name. */
const users = new Map()
const use = (target, name, file) => {
  if (target === undefined || target === file) return
  if (!users.has(target)) users.set(target, new Map())
  const names = users.get(target)
  if (!names.has(name)) names.set(name, new Set())
  names.get(name).add(file)
}

/** Members that a file takes of `import * as Name`; a namespace that is passed on counts as used whole. */
const namespaceMembers = (source, spaces, file) => {
  const visit = (node) => {
    if (ts.isIdentifier(node) && spaces.has(node.text) && !ts.isNamespaceImport(node.parent)) {
      const { parent } = node
      const target = spaces.get(node.text)
      if (ts.isPropertyAccessExpression(parent) && parent.expression === node) use(target, parent.name.text, file)
      else if (ts.isQualifiedName(parent) && parent.left === node) use(target, parent.right.text, file)
      else if (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent)) return
      else if (ts.isPropertyAssignment(parent) && parent.name === node) return
      else use(target, "*", file)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
}

const declared = new Map()
const own = new Map()
for (const file of files) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.ESNext, true)
  if (/^packages\/[^/]+\/src\//.test(file)) declared.set(file, exportsOf(source))
  const spaces = new Map()
  const words = new Set()
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const target = node.moduleSpecifier && targetOf(file, node.moduleSpecifier.text)
      const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
      if (target === undefined) return
      if (bindings === undefined) return ts.isExportDeclaration(node) ? use(target, "*", file) : undefined
      if (ts.isNamespaceImport(bindings)) spaces.set(bindings.name.text, target)
      else if (ts.isNamespaceExport(bindings)) use(target, "*", file)
      else for (const { name, propertyName } of bindings.elements) use(target, (propertyName ?? name).text, file)
      return
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [given] = node.arguments
      if (given !== undefined && ts.isStringLiteral(given)) use(targetOf(file, given.text), "*", file)
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      use(targetOf(file, node.argument.literal.text), "*", file)
    if (ts.isIdentifier(node) && refers(node)) words.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  own.set(file, words)
  if (spaces.size > 0) namespaceMembers(source, spaces, file)
}

const allowed = Object.values(reasons)
  .flat()
  .map((place) => ({ place, hit: false }))
const allows = (file, name) => {
  const place = allowed.find(({ place }) =>
    place.endsWith("/") ? file.startsWith(place) : place === file || place === `${file}#${name}`
  )
  if (place !== undefined) place.hit = true
  return place !== undefined
}

const found = []
for (const [file, names] of declared) {
  const [, name] = file.split("/")
  if (!report && !packages.includes(name)) continue
  for (const [exported, { line, type }] of names) {
    const all = [...(users.get(file)?.get(exported) ?? []), ...(users.get(file)?.get("*") ?? [])]
    const inside = own.get(file).has(exported) && (type || all.length > 0)
    if (inside || all.some((user) => !isTest(user)) || allows(file, exported)) continue
    found.push(`${file}:${line}: ${exported}${all.length > 0 ? " (tests only)" : ""}`)
  }
}
if (!report)
  for (const { hit, place } of allowed)
    if (!hit) found.push(`tools/lint/unusedExports.json: ${place} is in use or is gone; take it off the list`)

if (found.length > 0) {
  process.stderr.write(`Exports that no program uses; drop the export, or the thing:\n${found.join("\n")}\n`)
  process.exit(1)
}
