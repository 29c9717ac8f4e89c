/**
 * The readable API page: one section for each route with its purpose, authentication, request, responses and refusals
 * by code.
 * A function from the OpenAPI document to HTML; every value of the document is escaped.
 */
import { escape } from "@catenet/platform/Markup"
import { Option, Predicate, Record } from "effect"
import { type BrowserRoute, browserRoutes } from "./BrowserRoutes.ts"

type Json = { readonly [key: string]: unknown }
const object = (value: unknown): Json => (Predicate.isObject(value) ? { ...value } : {})
/** A member under a name of the document's own. */
const member = (value: unknown, name: string): unknown => Option.getOrUndefined(Record.get(object(value), name))
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
    return resolve(member(object(document["components"])["schemas"], name), document, [...seen, name])
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(value, document, seen)]))
}

/** A schema as people write a shape: names and kinds, without the patterns. */
const shape = (schema: unknown, indent = ""): string => {
  const { additionalProperties, anyOf, enum: values, items, oneOf, properties, required, type } = object(schema)
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (choices !== undefined) return choices.map((choice) => shape(choice, indent)).join(" | ")
  if (Array.isArray(values)) return values.map((word) => JSON.stringify(word)).join(" | ")
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

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** What stands behind a status: the shape of an answer, or the codes of the refusals, which are the names of their schemas. */
const behind = (status: string, schema: unknown, document: Json) => {
  if (Number(status) < 300) return block(schema, document)
  const { $ref, anyOf } = object(schema)
  const names = [$ref, ...list(anyOf).map((each) => object(each)["$ref"])].map(
    (ref) => /([^/]+?)(?:Encoded)?$/.exec(text(ref))?.[1]
  )
  return names.flatMap((name) => (name === undefined ? [] : [`<code>${escape(name)}</code>`])).join(" ")
}

const answers = (responses: unknown, document: Json) =>
  Object.entries(object(responses))
    .map(([status, response]) => {
      const media = mediaOf(object(response)["content"])
      const answer = media.length === 0 ? "Nothing in the body." : text(object(response)["description"])
      const kinds = Number(status) < 300 ? media.map(([kind]) => `<code>${escape(kind)}</code>`).join(" ") : ""
      const shown = media.map(([, kind]) => behind(status, object(kind)["schema"], document)).join(" ")
      return `<tr><td><b>${escape(status)}</b></td><td>${escape(answer)} ${kinds}${shown}</td></tr>`
    })
    .join("")

/** Values that stand beside the path and the body. */
const parametersOf = (parameters: unknown) =>
  ["query", "header"]
    .flatMap((place) => {
      const there = list(parameters)
        .map(object)
        .filter((each) => each["in"] === place)
      const names = there.map(
        ({ name, required }) => `<code>${escape(text(name))}${required === true ? "" : "?"}</code>`
      )
      return names.length === 0 ? [] : [`<p>${place === "query" ? "Query" : "Header"}: ${names.join(" ")}</p>`]
    })
    .join("")

/** A scheme by the header or cookie that carries it. */
const schemeOf = (name: string, document: Json) => {
  const scheme = object(member(object(document["components"])["securitySchemes"], name))
  return scheme["type"] === "apiKey"
    ? `${escape(name)}, <code>${escape(text(scheme["name"]))}</code>`
    : `${escape(name)}, <code>authorization: ${escape(text(scheme["scheme"]))}</code>`
}

const routeOf = ({ method, operation, path }: Route, document: Json) => {
  const ways = list(operation["security"]).flatMap((way) => Object.keys(object(way)))
  const body = mediaOf(object(operation["requestBody"])["content"])
  const isTried = ways.includes("session")
  const taken = body.length === 0 ? "" : " data-body"
  const trial = isTried ? ` data-method="${escape(method.toUpperCase())}" data-path="${escape(path)}"${taken}` : ""
  return `<section id="${anchor(method, path)}" class="route"${trial}>
<h3><b>${escape(method.toUpperCase())}</b> <code>${escape(path)}</code></h3>
<p>${escape(text(operation["summary"]))}</p>
<p class="hint">${escape(text(operation["description"]))}</p>
<p>Authentication: ${ways.length === 0 ? "none" : ways.map((way) => schemeOf(way, document)).join(" or ")}</p>
${parametersOf(operation["parameters"])}
${body.map(([kind, media]) => `<p>Request: <code>${escape(kind)}</code></p>${block(object(media)["schema"], document)}`).join("")}
<table>${answers(operation["responses"], document)}</table>
</section>`
}

interface Route {
  readonly path: string
  readonly method: string
  readonly operation: Json
}

const link = ({ method, path }: Route) =>
  `<li><a href="#${anchor(method, path)}"><code>${escape(method.toUpperCase())} ${escape(path)}</code></a></li>`

const prose = (values: string) => escape(values).replace(/`([^`]+)`/g, "<code>$1</code>")

const other = ([route, [sentence, ...fields]]: readonly [route: string, BrowserRoute]) => {
  const [method = "", path = ""] = route.split(" ")
  const named = fields.map((name) => `<code>${escape(name)}</code>`).join(" ")
  const kind = method === "GET" ? "Query" : "Fields"
  return `<tr><th scope="row"><b>${escape(method)}</b> <code>${escape(path)}</code></th>
<td>${prose(sentence)}${named === "" ? "" : ` ${kind}: ${named}`}</td></tr>`
}

/** The content of the page for an OpenAPI document, and for pages, forms, sign-in and gate, which it does not have. */
export const render = (openApi: object): string => {
  const document = object(openApi)
  const info = object(document["info"])
  const routes = Object.entries(object(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, operation]) => ({ path, method, operation: object(operation) }))
  )
  const groups = list(document["tags"]).map((tag) => {
    const { description, name } = object(tag)
    return {
      heading: escape(text(description) || text(name)),
      own: routes.filter(({ operation }) => list(operation["tags"]).includes(name))
    }
  })
  const title = escape(text(info["title"]))
  return `<h1>${title}</h1>
<p>Version ${escape(text(info["version"]))}. The same as <a href="/openapi.json">OpenAPI</a>.</p>
<p>${prose(text(info["description"]))}</p>
<nav aria-label="API">${groups.map(({ heading, own }) => `<h2>${heading}</h2><ul>${own.map(link).join("")}</ul>`).join("")}</nav>
${groups.map(({ heading, own }) => `<h2>${heading}</h2>\n${own.map((route) => routeOf(route, document)).join("\n")}`).join("\n")}
<h2>Pages, forms, sign-in and gate</h2>
<p>Browsers use these. A page without a session leads to the sign-in by 303. A form is sent as <code>application/x-www-form-urlencoded</code> with the session, from a page of the portal (403 otherwise); it is answered by 303 to the page that shows what became of it, by a page with a secret that is shown once, or with 400 by the page with what was refused. What belongs to another account is answered by 404 as what is not there. Repeated with the same value in <code>once</code> it counts once.</p>
<table><tbody>${Object.entries(browserRoutes).map(other).join("")}</tbody></table>
`
}
