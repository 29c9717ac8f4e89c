/**
 * Thousands of requests that are nearly right, from two accounts, an operator and without credentials: no fault of the server, no
 * status that the document does not declare, no answer that its schema does not hold, and nothing of one account in an
 * answer to the other, while slow clients wait in vain. `FUZZ_REQUESTS` and `FUZZ_SEED` say how many and which.
 */
import { isRecord, members } from "@catenet/domain/api/LosslessJson"
import { prototypeNames } from "@catenet/testing/edge/fuzz/PrototypeNames"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Agent, request } from "node:http"
import { type Described, described, type Route, routes } from "./Document.ts"
import * as Generator from "./Generator.ts"
import * as Slow from "./Slow.ts"

const total = Number(process.env["FUZZ_REQUESTS"] ?? 4_000)
const seed = Number(process.env["FUZZ_SEED"] ?? 1)

const server = Layer.unwrap(
  Effect.map(TestIssuer, ({ issuer }) =>
    TestServer.layer({
      CT_OIDC_ISSUER: issuer,
      CT_CP_HOSTNAME_ZONE: "zone.example",
      CT_CP_TUNNELS_PER_ACCOUNT: "50",
      CT_PAYMENT_WEBHOOK_SECRET: "secret"
    })
  )
).pipe(Layer.provideMerge(TestIssuer.layer))

interface Sent {
  /** Whether the path may lead to another route than the one that was meant. */
  readonly isDetour: boolean
  readonly path: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}
interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 24 })
const exchange = (base: string, { body, headers, method, path }: Sent) =>
  new Promise<Answer>((resolve, reject) => {
    const outgoing = request(base + path, { agent, method, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", text })
      )
    })
    outgoing.on("error", reject).end(body)
  })

const hexIn = (text: string) =>
  text.toLowerCase().match(/(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-f])/g) ?? []

/** What may go wrong with any request beside what its route declares: the path may have led elsewhere. */
const anywhere = new Set([400, 404, 405, 413, 415, 422])

const problemIsWhole = ({ status, text, type }: Answer) => {
  if (!type.startsWith("application/problem+json")) return `a refusal of type ${type}`
  const { code, detail, status: said } = members(JSON.parse(text))
  const whole = said === status && typeof code === "string" && typeof detail === "string"
  return whole ? undefined : "a problem without status, code or detail"
}

const patterns = new Map<string, RegExp>()
const patternOf = (source: string) => {
  const pattern = patterns.get(source) ?? new RegExp(source, "u")
  patterns.set(source, pattern)
  return pattern
}

/** Whether a value has the members that the schema of an answer requires, of the types that it says. */
const fits = (schema: object | undefined, value: unknown): boolean => {
  const {
    additionalProperties,
    anyOf,
    enum: words,
    items,
    oneOf,
    pattern,
    properties = {},
    ...rest
  } = described(schema)
  const choices: ReadonlyArray<Described> | undefined = anyOf ?? oneOf
  if (choices !== undefined) return choices.some((choice) => fits(choice, value))
  if (words !== undefined) return words.includes(value)
  switch (rest.type) {
    case "object":
      return (
        isRecord(value) &&
        (rest.required ?? []).every((name) => name in value) &&
        Object.entries(value).every(([name, member]) => fits(properties[name], member)) &&
        (additionalProperties !== false || Object.keys(value).every((name) => name in properties))
      )
    case "array":
      return Array.isArray(value) && value.every((item) => fits(items, item))
    case "string":
      return typeof value === "string" && (pattern === undefined || patternOf(pattern).test(value))
    case "integer":
      return Number.isInteger(value)
    case "number":
      return typeof value === "number"
    case "boolean":
      return typeof value === "boolean"
    case "null":
      return value === null
    default:
      return true
  }
}

const verdict = (operation: Route["operation"], answer: Answer, isDetour: boolean): string | undefined => {
  const declared = operation.responses[answer.status]
  if (answer.status >= 500 && declared === undefined) return "a fault"
  if (isDetour) return undefined
  if (declared === undefined && !anywhere.has(answer.status)) return "an undeclared status"
  if (answer.status >= 400) return problemIsWhole(answer)
  const json = declared?.content?.["application/json"]?.schema
  if (json === undefined || !answer.type.startsWith("application/json")) return undefined
  return fits(json, JSON.parse(answer.text)) ? undefined : "an answer that its schema does not hold"
}

layer(server, { excludeTestServices: true, timeout: "600 seconds" })("hostile input", (it) => {
  it.effect(
    `${total} requests from seed ${seed} are answered as the document says, and no caller sees what is not its own`,
    () =>
      Effect.gen(function* () {
        const base = yield* TestServer.baseUrl
        const slow = yield* Effect.forkChild(Slow.all)
        const callers = [
          { name: "ada", way: "bearer", headers: { authorization: `Bearer ${yield* Accounts.bearerOf("ada")}` } },
          { name: "bob", way: "bearer", headers: { authorization: `Bearer ${yield* Accounts.bearerOf("bob")}` } },
          {
            name: "ada",
            way: "session",
            headers: { cookie: `__Host-ct_portal_session=${yield* Accounts.sessionOf("ada", "ada@a.test")}` }
          },
          {
            name: "bob",
            way: "session",
            headers: { cookie: `__Host-ct_portal_session=${yield* Accounts.sessionOf("bob", "bob@b.test")}` }
          },
          { name: "operator", way: "admin", headers: { "x-ct-admin-token": TestServer.adminToken } },
          { name: "anonymous", way: "", headers: {} }
        ]
        const random = Generator.random(seed)
        const pool: Generator.Pool = { hex: new Map() }
        const named = () => new Map(["ada", "bob", "operator", "anonymous"].map((name) => [name, new Set<string>()]))
        // What a caller has said itself, and what it was shown without having said it.
        const said = named()
        const shown = named()
        const found: Array<string> = []

        const make = (route: Route): Sent => {
          const { parameters, requestBody } = route.operation
          const value = (parameter: { readonly schema: object }) => Generator.text(parameter.schema, random, pool)
          let isDetour = false
          let path = route.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
            const parameter = parameters.find((each) => each.name === name && each.in === "path")
            const text = parameter === undefined ? "x" : value(parameter)
            if (text !== "" && random.next() > 0.02) return encodeURIComponent(text.toWellFormed())
            isDetour = true
            return text === "" ? "" : random.pick(["..", "%2e%2e", "%00", "%ff", "a%2fb"])
          })
          const query = parameters.filter((each) => each.in === "query" && random.next() < 0.4)
          const asked = query.map((each) => [each.name, value(each)])
          if (random.next() < 0.03) asked.push([random.pick(prototypeNames), random.pick(prototypeNames)])
          if (asked.length > 0) path += `?${new URLSearchParams(asked).toString()}`
          const headers: Record<string, string> = {}
          // Fields are defined, since an assignment to `__proto__` sets none.
          const named = random.next() < 0.03 ? { value: "x", enumerable: true } : undefined
          if (named !== undefined) Object.defineProperty(headers, random.pick(prototypeNames), named)
          for (const each of parameters) {
            if (each.in === "header" && random.next() < 0.5)
              headers[each.name] = encodeURIComponent(value(each).toWellFormed()).slice(0, 300)
          }
          const [sort] = Object.entries(requestBody?.content ?? {})
          if (sort === undefined) return { isDetour, path, method: route.method, headers, body: undefined }
          const [type, { schema }] = sort
          headers["content-type"] = random.next() < 0.02 ? "text/plain" : type
          const body = JSON.stringify(Generator.value(schema, random, pool)) ?? ""
          const broken = random.next() < 0.03 ? body.slice(0, random.below(body.length + 1)) : body
          return {
            isDetour,
            path,
            method: route.method,
            headers: { ...headers, "content-length": String(Buffer.byteLength(broken)) },
            body: broken
          }
        }

        const learn = (caller: string, sent: Sent, answer: Answer, operation: Route["operation"]) => {
          const own = said.get(caller)!
          for (const hex of hexIn(sent.path + (sent.body ?? ""))) own.add(hex)
          const isPublic = operation.security.length === 0
          for (const hex of answer.status < 300 ? hexIn(answer.text) : []) {
            const elsewhere = caller === "bob" ? "ada" : "bob"
            const isAccount = caller === "ada" || caller === "bob"
            if (
              isAccount &&
              !isPublic &&
              !own.has(hex) &&
              !shown.get(caller)!.has(hex) &&
              shown.get(elsewhere)!.has(hex)
            ) {
              found.push(`${caller} was shown ${hex} of ${elsewhere} by ${sent.method} ${sent.path}`)
            }
            if (isPublic) for (const set of said.values()) set.add(hex)
            if (!own.has(hex)) shown.get(caller)!.add(hex)
            const sized = pool.hex.get(hex.length) ?? []
            if (sized.length < 400) sized.push(hex)
            else sized[random.below(400)] = hex
            pool.hex.set(hex.length, sized)
          }
        }

        const one = Effect.promise(async () => {
          const route = random.pick(routes)
          const ways = new Set(route.operation.security.flatMap((way) => Object.keys(way)))
          const fitting = callers.filter(({ way }) => ways.has(way))
          const caller = random.pick(fitting.length > 0 && random.next() < 0.8 ? fitting : callers)
          const sent = make(route)
          const answer = await exchange(base, { ...sent, headers: { ...sent.headers, ...caller.headers } })
          const wrong = verdict(route.operation, answer, sent.isDetour)
          if (wrong !== undefined) {
            found.push(
              `${wrong}: ${sent.method} ${sent.path} as ${caller.name} ${sent.body?.slice(0, 300) ?? ""}\n  ${answer.status} ${answer.text.slice(0, 400)}`
            )
          }
          learn(caller.name, sent, answer, route.operation)
        })
        yield* Effect.all(
          Array.from({ length: total }, () => one),
          { concurrency: 16, discard: true }
        )
        agent.destroy()
        const kinds = new Map(found.map((text) => [text.replace(/[0-9a-f]{32,}/g, "#").slice(0, 90), text]))
        assert.deepStrictEqual([...kinds.values()].slice(0, 40), [], LoggedErrors.said())
        yield* Fiber.join(slow)
      }),
    1_200_000
  )
})
