/** `init`: asks for the settings of an agent and writes the configuration file, readable by its owner only. */
import { schemaPath } from "@catenet/domain/tunnels/ServicesFile"
import { ConfigurationInvalid, sentence } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Effect, FileSystem, Option } from "effect"
import { extname } from "node:path"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { defaultFile } from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import * as Settings from "../settings/Settings.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import * as Prompts from "../terminal/Prompts.ts"
import { Screen } from "../terminal/Screen.ts"

/** The answers, by the variables that they are for. */
type Answers = Readonly<Record<string, string>>

/** The problem that this variable's value has, if any. */
const problemOf = (answers: Answers, name: string) =>
  Settings.readFrom(ConfigProvider.fromUnknown(answers)).pipe(
    Effect.as(undefined),
    Effect.catch(({ problems }) =>
      Effect.succeed(problems.find(({ problem, variable }) => variable === name && problem.startsWith("is not")))
    )
  )

const unanswered = ConfigurationInvalid.of(
  "The answers",
  "ended before the last question. Nothing was written",
  "run ct-agent init again"
)

/** Asks until the answer is valid; on a pipe the first invalid answer ends it. */
const ask = Effect.fnUntraced(function* (
  name: string,
  question: string,
  given: Answers,
  options: { readonly hidden?: boolean; readonly optional?: boolean } = {}
): Effect.fn.Return<Answers, ConfigurationInvalid, Prompts.Prompts | Screen | FileSystem.FileSystem> {
  const prompts = yield* Prompts.Prompts
  const screen = yield* Screen
  while (true) {
    const answer = yield* prompts.ask(question, options.hidden ?? false)
    if (Option.isNone(answer)) return yield* unanswered
    const value = answer.value.trim()
    if (value === "" && options.optional === true) return given
    const answers = { ...given, [name]: value }
    const problem = yield* problemOf(answers, name)
    if (problem === undefined && value !== "") return answers
    const reason = problem ?? { variable: name, problem: "is not set", remedy: "this question needs an answer" }
    if (!prompts.interactive) return yield* new ConfigurationInvalid({ problems: [reason] })
    screen.log(sentence(reason))
  }
})

const mayWrite = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false))) return
  const prompts = yield* Prompts.Prompts
  const answer = yield* prompts.ask(`${path} exists. Replace it? [y/N] `, false)
  if (Option.isNone(answer) || !/^y(es)?$/i.test(answer.value.trim()))
    return yield* ConfigurationInvalid.of(path, "was left as it is", "name another file with --config")
})

/** A file of services to be edited; its first line names the schema for editors. */
const template = (controlPlane: string) => `# yaml-language-server: $schema=${controlPlane}${schemaPath}
# Services of this machine, served by one process: ct-agent --config FILE
# Check a change with: ct-agent check FILE, and apply it with: ct-agent reload --config FILE

control_plane: ${controlPlane}

# Status and metrics for ct-agent status and Prometheus.
status_listen: 127.0.0.1:9610

# Apply changes of this file by themselves.
# watch: true

# Options of every service that does not set them.
# defaults:
#   tls: terminate                  # or passthrough, to a service that ends TLS itself

services:
  # The tunnel's name in your account. It is made at the first start, and its address is kept.
  hello:
    to: http://127.0.0.1:3000
  # api:
  #   to: h2c://127.0.0.1:50051     # a service that speaks HTTP/2 only, such as gRPC
  #   host: api.example.net         # a name of yours; the log shows the DNS record that proves it
  # ssh:
  #   tcp: 22                       # a TCP service (or udp: a UDP service) that gets a public port
`

const initServices = Effect.fnUntraced(function* (path: string) {
  const screen = yield* Screen
  if (extname(path).toLowerCase() === ".json")
    return yield* ConfigurationInvalid.of(path, "cannot hold comments", "name a file that ends in .yaml")
  yield* mayWrite(path)
  const values = yield* EnvironmentFile.read(null, LoginVariables.account)
  const controlPlane = yield* ControlPlaneSelection.controlPlaneOf(values)
  const text = template(controlPlane ?? "https://portal.example.net")
  yield* PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(text) }])
  screen.result(path)
  yield* Effect.logInfo(`written. Next: edit it, then ct-agent check ${path}, then ct-agent --config ${path}`)
})

export const init = Effect.gen(function* () {
  const screen = yield* Screen
  const named = yield* configFile
  if (ServicesFile.isNamed(named)) return yield* initServices(named)
  const path = named ?? defaultFile
  yield* mayWrite(path)
  const answered = yield* ask("CT_AGENT_CP_URL", "Address of the control plane: ", {})
  const withHost = yield* ask("CT_AGENT_HOSTNAME", "Host name of the tunnel (empty for a mesh tunnel): ", answered, {
    optional: true
  })
  const mesh = withHost["CT_AGENT_HOSTNAME"] === undefined
  const placed: Answers = mesh ? withHost : { ...withHost, CT_AGENT_MODE: "browser" }
  const origin = yield* ask("CT_AGENT_ORIGIN", "Local service [127.0.0.1:8080]: ", placed, { optional: true })
  const hidden = { hidden: true, optional: true }
  const short = yield* ask("CT_BOOTSTRAP", "Bootstrap token (empty if you have the two long ones): ", origin, hidden)
  const whole =
    short["CT_BOOTSTRAP"] === undefined
      ? yield* ask(
          "CT_AGENT_TOKEN",
          mesh ? "Routing token (empty for a new one): " : "Routing token: ",
          yield* ask("CT_AGENT_JOIN_TOKEN", "Join token (empty if this agent is enrolled): ", short, hidden),
          { hidden: true, optional: mesh }
        )
      : short
  const lines = Object.entries(whole).map(([name, value]) => `${name}=${value}\n`)
  yield* PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(lines.join("")) }])
  screen.result(path)
  yield* Effect.logInfo(
    `written. Next: ct-agent doctor, then ct-agent${path === defaultFile ? "" : ` --config ${path}`}`
  )
}).pipe(Effect.provide(Prompts.Prompts.layer), Effect.provide(NodeFileSystem.layer))
