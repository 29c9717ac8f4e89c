/** `inspect`: what the inspector of a running agent shows, on the terminal. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Schema } from "effect"
import { HttpClient, HttpClientRequest, type HttpMethod } from "effect/http"
import { Refused, Unreachable, UsageWrong } from "../Failure.ts"
import * as Inspector from "../inspect/Inspector.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import { printable } from "../terminal/Log.ts"
import { Screen } from "../terminal/Screen.ts"

interface Options {
  readonly id: Option.Option<number>
  readonly port: Option.Option<number>
  readonly search: Option.Option<string>
  readonly service: Option.Option<string>
  readonly replay: boolean
  readonly har: boolean
  readonly showSecrets: boolean
  readonly address: boolean
}

/** A replay may take 30 seconds. */
const askMillis = 40_000

const found = Effect.fnUntraced(function* (port: Option.Option<number>, stateDir: string | undefined) {
  const all = yield* Inspector.running(stateDir)
  const wanted = Option.match(port, { onNone: () => all, onSome: (port) => all.filter((each) => each.port === port) })
  const [one, ...others] = wanted
  if (one === undefined)
    return yield* new Unreachable({
      detail: Option.isSome(port)
        ? `No inspector of yours runs on port ${port.value}. Leave out --port to find it.`
        : "No inspector of yours runs on this machine. Start one: ct-agent http PORT --inspect, or ct-agent --config FILE --inspect."
    })
  if (others.length > 0)
    return yield* new UsageWrong({
      detail: `Several inspectors run. Choose one: --port ${wanted.map((each) => each.port).join(" or --port ")}.`
    })
  return one
})

const Problem = Schema.fromJsonString(Schema.Struct({ detail: Schema.String }))
const readProblem = Schema.decodeUnknownOption(Problem)

export const inspect = ({ address, har, id, port, replay, search, service, showSecrets }: Options) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    if (replay && (Option.isNone(id) || har))
      return yield* new UsageWrong({ detail: "--replay needs the number of a request, and does not work with --har." })
    const inspector = yield* found(port, yield* Inspector.stateDir)
    const base = `http://127.0.0.1:${inspector.port}`
    if (address) return screen.result(`${base}/?token=${inspector.token}`)
    const form = har ? ".har" : screen.json ? "" : ".txt"
    const at = Option.match(id, { onNone: () => "/requests", onSome: (id) => `/requests/${id}` })
    const ask = Effect.fnUntraced(
      function* (method: HttpMethod.HttpMethod, path: string) {
        const request = HttpClientRequest.make(method)(`${base}/api${path}`, {
          urlParams: {
            ...Option.match(search, { onNone: () => ({}), onSome: (q) => ({ q }) }),
            ...Option.match(service, { onNone: () => ({}), onSome: (name) => ({ service: name }) }),
            ...(showSecrets && { secrets: "shown" })
          }
        })
        const response = yield* HttpClient.execute(HttpClientRequest.bearerToken(request, inspector.token))
        return { status: response.status, text: yield* response.text }
      },
      Effect.timeout(askMillis),
      Effect.mapError(() => new Unreachable({ detail: `The inspector at ${base} does not answer.` }))
    )
    const { status, text } = yield* replay ? ask("POST", `${at}/replay${form}`) : ask("GET", `${at}${form}`)
    if (status >= 400)
      return yield* new Refused({
        detail: Option.match(readProblem(text), {
          onNone: () => `The inspector answers ${status}.`,
          onSome: ({ detail }) => detail
        })
      })
    for (const line of text.split("\n")) screen.result(form === ".txt" ? printable(line) : line)
  }).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerOfInspector]))
