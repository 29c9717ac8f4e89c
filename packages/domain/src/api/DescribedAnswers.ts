/**
 * Descriptions of responses in the OpenAPI document: a sentence for each error, and the header fields that clients act
 * on.
 */
import { Option, Record as Records } from "effect"
import { errorSentences } from "./ErrorSentences.generated.ts"
import { mapped, type Members, members } from "./LosslessJson.ts"

/** The codes of the errors that an answer may be. */
const codesOf = (answer: unknown): ReadonlyArray<string> =>
  Array.from(
    JSON.stringify(answer ?? null).matchAll(/"#\/components\/schemas\/(\w+)Encoded"/gu),
    ([, name = ""]) => name
  )

const explained = (code: string): ReadonlyArray<string> =>
  Option.match(Records.get(errorSentences, code), {
    onNone: () => [],
    onSome: (sentence) => [`\`${code}\`: ${sentence}`]
  })

/**
 * The sentences of the errors that one of these answers may be.
 *
 * @example
 * ```ts
 * import { errorsIn } from "@catenet/domain/api/DescribedAnswers"
 *
 * const [sentence] = errorsIn({ $ref: "#/components/schemas/EdgeUnknownEncoded" })
 * if (sentence !== "`EdgeUnknown`: No edge has this id.") throw new Error(sentence)
 * ```
 */
export const errorsIn = (answer: unknown): ReadonlyArray<string> => codesOf(answer).flatMap(explained)

const seconds = { type: "integer", minimum: 0 }
const fields = {
  link: {
    Link: {
      description: 'The next page, with `rel="next"` (RFC 8288), where there is one.',
      schema: { type: "string" },
      example: '</me/tunnels?limit=2&cursor=eyJhIjoxfQ>; rel="next"'
    }
  },
  retryAfter: {
    "Retry-After": { description: "Number of seconds to wait before trying again.", schema: seconds, example: 2 }
  }
}

const withFields = (answer: Members, added: object): Members => ({
  ...answer,
  headers: { ...members(answer["headers"]), ...added }
})

const isPage = (operation: Members) => JSON.stringify(operation["parameters"] ?? []).includes('"name":"cursor"')

const comesAgain = new Set(["429", "503"])

const described = (operation: Members) => {
  const page = isPage(operation)
  return (answer: Members, status: string): Members => {
    const sentences = Number(status) >= 400 ? errorsIn(answer) : []
    const withDescription = sentences.length === 0 ? answer : { ...answer, description: sentences.join("\n\n") }
    if (page && status === "200") return withFields(withDescription, fields.link)
    return comesAgain.has(status) && sentences.length > 0
      ? withFields(withDescription, fields.retryAfter)
      : withDescription
  }
}

/**
 * The same OpenAPI document with what each answer means.
 *
 * @example
 * ```ts
 * import { describeAnswers } from "@catenet/domain/api/DescribedAnswers"
 *
 * const { paths } = describeAnswers({ paths: { "/a": { get: { responses: { 429: { $ref: "#/components/schemas/RateLimitedEncoded" } } } } } })
 * if (!JSON.stringify(paths).includes("Retry-After")) throw new Error("when to ask again")
 * ```
 */
export const describeAnswers = (spec: Record<string, unknown>): Record<string, unknown> => ({
  ...spec,
  paths: mapped(spec["paths"], (methods) =>
    mapped(methods, (operation) => ({ ...operation, responses: mapped(operation["responses"], described(operation)) }))
  )
})

/** Where the document is served, the API is. */
const servers = [{ url: "/", description: "The service that serves this document." }]

/**
 * The same OpenAPI document with where its operations are.
 *
 * @example
 * ```ts
 * import { describeServers } from "@catenet/domain/api/DescribedAnswers"
 *
 * if (!JSON.stringify(describeServers({})).includes('"url":"/"')) throw new Error("beside the document")
 * ```
 */
export const describeServers = (spec: Record<string, unknown>): Record<string, unknown> => ({ ...spec, servers })
