/**
 * The readable page of the API: one section a route with its authentication, its request, its answers and its refusals.
 * A function from the OpenAPI document to HTML; everything that comes out of the document is escaped.
 */
import { createHash } from "node:crypto"
import { Predicate } from "effect"

const css = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem }
nav ul { columns: 22rem; list-style: none; padding: 0 }
nav a { overflow-wrap: anywhere }
code, pre { font-family: ui-monospace, monospace; font-size: .9em }
section { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .5rem 0 }
h3 { font-size: 1rem; margin: .5rem 0; overflow-wrap: anywhere }
h3 b { display: inline-block; min-width: 4.5rem }
table { border-collapse: collapse; width: 100% }
td { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); padding: .2rem .6rem .2rem 0; vertical-align: top }
pre { overflow-x: auto; padding: .6rem; background: color-mix(in srgb, currentColor 8%, transparent) }
`

/** Allows the one style sheet of the page and nothing else. */
export const contentPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(css).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

const escape = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

type Json = { readonly [key: string]: unknown }
const object = (value: unknown): Json => (Predicate.isObject(value) ? { ...value } : {})
const text = (value: unknown): string => (typeof value === "string" ? value : "")

const mediaOf = (content: unknown) => Object.entries(object(content))

/** The document's own schema, with references put in their place as far as they do not return to themselves. */
const resolve = (schema: unknown, document: Json, seen: ReadonlyArray<string>): unknown => {
  if (Array.isArray(schema)) return schema.map((item) => resolve(item, document, seen))
  if (!Predicate.isObject(schema)) return schema
  const reference = text(object(schema)["$ref"])
  if (reference !== "") {
    const name = reference.replace("#/components/schemas/", "")
    if (seen.includes(name)) return { title: name }
    return resolve(object(object(document["components"])["schemas"])[name], document, [...seen, name])
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(value, document, seen)]))
}

/** A schema as people write a shape: names and kinds, without the patterns. */
const shape = (schema: unknown, indent = ""): string => {
  const { additionalProperties, anyOf, enum: words, items, oneOf, properties, required, type } = object(schema)
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (choices !== undefined) return choices.map((choice) => shape(choice, indent)).join(" | ")
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(" | ")
  if (type === "array") return `[${shape(items, indent)}]`
  if (Predicate.isObject(properties)) {
    const must = Array.isArray(required) ? required : []
    const lines = Object.entries(properties).map(
      ([name, member]) => `${indent}  ${name}${must.includes(name) ? "" : "?"}: ${shape(member, `${indent}  `)}`
    )
    return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}\n${indent}}`
  }
  if (Predicate.isObject(additionalProperties)) return `{ [name]: ${shape(additionalProperties, indent)} }`
  return text(type) || "any"
}

const block = (schema: unknown, document: Json) => `<pre>${escape(shape(resolve(schema, document, [])))}</pre>`

const anchor = (method: string, path: string) => escape(`${method}${path}`.replace(/[^A-Za-z0-9]+/g, "-"))

const answers = (responses: unknown, document: Json) =>
  Object.entries(object(responses))
    .map(([status, response]) => {
      const media = mediaOf(object(response)["content"])
      const shown =
        Number(status) < 300 ? media.map(([, kind]) => block(object(kind)["schema"], document)).join("") : ""
      const kinds = media.map(([kind]) => `<code>${escape(kind)}</code>`).join(" ")
      return `<tr><td><b>${escape(status)}</b></td><td>${escape(text(object(response)["description"]))} ${kinds}${shown}</td></tr>`
    })
    .join("")

const routeOf = (path: string, method: string, operation: Json, document: Json) => {
  const security = Array.isArray(operation["security"])
    ? operation["security"].flatMap((way) => Object.keys(object(way)))
    : []
  const body = mediaOf(object(operation["requestBody"])["content"])
  return `<section id="${anchor(method, path)}">
<h3><b>${escape(method.toUpperCase())}</b> <code>${escape(path)}</code></h3>
<p>${escape(text(operation["description"]) || text(operation["summary"]))}</p>
<p>Authentication: ${security.length === 0 ? "none" : security.map((way) => `<code>${escape(way)}</code>`).join(" or ")}</p>
${body.map(([kind, media]) => `<p>Request: <code>${escape(kind)}</code></p>${block(object(media)["schema"], document)}`).join("")}
<table>${answers(operation["responses"], document)}</table>
</section>`
}

/** The page for an OpenAPI document. */
export const render = (openApi: object): string => {
  const document = object(openApi)
  const info = object(document["info"])
  const routes = Object.entries(object(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, operation]) => ({ path, method, operation: object(operation) }))
  )
  const title = escape(text(info["title"]))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${css}</style></head><body>
<h1>${title}</h1>
<p>Version ${escape(text(info["version"]))}. The same as <a href="/openapi.json">OpenAPI</a>.</p>
<nav><ul>${routes.map(({ method, path }) => `<li><a href="#${anchor(method, path)}"><code>${escape(method.toUpperCase())} ${escape(path)}</code></a></li>`).join("")}</ul></nav>
${routes.map(({ method, operation, path }) => routeOf(path, method, operation, document)).join("\n")}
</body></html>
`
}
