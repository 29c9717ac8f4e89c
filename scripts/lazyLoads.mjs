/** What a bundle loads when it is first used, and not when the program starts. */
import { isBuiltin } from "node:module"

const prefix = "\0builtin:"

const namesOf = (module) =>
  Object.keys(process.getBuiltinModule(module)).filter((key) => key !== "default" && /^[A-Za-z_$][\w$]*$/u.test(key))

/**
 * Has a bundle load a module of Node when the first module that needs it runs. The import statements of a file are all carried
 * out when it starts, and read every property of what they import: `node:http` alone then loads an HTTP client, and
 * `node:crypto` the Web Cryptography API.
 */
export const lazyBuiltins = {
  name: "lazy-builtins",
  resolveId: (id, _importer, { kind }) =>
    isBuiltin(id) && id !== "node:module" && kind !== "require-call"
      ? { id: prefix + id, moduleSideEffects: false }
      : undefined,
  load: (id) => {
    if (!id.startsWith(prefix)) return undefined
    const module = id.slice(prefix.length)
    const lines = namesOf(module).map(
      (name) => `const $${name} = /* @__PURE__ */ (() => builtin.${name})();\nexport { $${name} as ${name} };`
    )
    return [
      `const builtin = process.getBuiltinModule(${JSON.stringify(module)});`,
      "export default builtin;",
      ...lines
    ].join("\n")
  }
}

/** The one that measures the help of a command line loads 2.5 MB of tables. */
const segmenter =
  /const graphemeSegmenter = \/\*#__PURE__\*\/\s*new Intl\.Segmenter\(undefined, \{\s*granularity: "grapheme"\s*\}\);/u

/** Has the framework's command line make its segmenter of text when it shows a help. */
export const lazySegmenter = {
  name: "lazy-segmenter",
  transform: (code, id) => {
    if (!/\beffect[\\/]dist[\\/]cli[\\/]CliOutput\.js$/u.test(id)) return undefined
    if (!segmenter.test(code)) throw new Error("The framework makes its segmenter in another way than before.")
    const lazy =
      'const graphemeSegmenter = { segment: (text) => new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text) };'
    return { code: code.replace(segmenter, lazy), map: null }
  }
}

/** What the framework takes of the HTTP client, which has no names that a bundle of several files could see. */
const clientNames = ["Agent", "FormData", "getGlobalDispatcher"]

/** Gives the framework's HTTP client, which is loaded when it is first used, the names by which it is used. */
export const namedHttpClient = {
  name: "named-http-client",
  transform: (code, id) => {
    if (!/[\\/]platform-node[\\/]dist[\\/]Undici\.js$/u.test(id)) return undefined
    if (!code.includes('export * from "undici"'))
      throw new Error("The framework names its HTTP client in another way than before.")
    const lines = clientNames.map((name) => `export const ${name} = client.${name};`)
    return { code: ['import client from "undici";', ...lines, "export default client;"].join("\n"), map: null }
  }
}
