/** `mcp add`: writes the peer of a channel as an MCP server into the configuration file of a client. */
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import { Effect, Option, Result } from "effect"
import { homedir } from "node:os"
import { basename, dirname, resolve } from "node:path"
import * as ClientConfiguration from "../channel/mcp/ClientConfiguration.ts"
import { StateUnusable, UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { gatewayEntry, mcpEntry } from "../Invocation.ts"
import * as Prompts from "../terminal/Prompts.ts"
import { Screen } from "../terminal/Screen.ts"

interface Options {
  readonly client: string
  readonly name: string | undefined
  readonly file: string | undefined
  readonly yes: boolean
}

/** What the inviting member is called; else the name that `channel join` prints for its own files, or the file's base name. */
export const nameOf = (config: string, contents: string): string => {
  const [, called] = /^# name: ([\w-]{1,32})$/mu.exec(contents) ?? []
  if (called !== undefined) return called
  const base = basename(config).replace(/\.env$/u, "")
  return /^[0-9a-f]{16}$/u.test(base) ? `catenet-${base.slice(0, 8)}` : base.replaceAll(/[^\w-]+/gu, "-").slice(0, 64)
}

const text = (path: string) =>
  Effect.tryPromise({
    try: async () => {
      const isThere = await Files.stat(path).catch(() => undefined)
      return isThere === undefined
        ? undefined
        : { text: await Files.readFile(path, "utf8"), mode: isThere.mode & 0o777 }
    },
    catch: () => new StateUnusable({ path, detail: "it cannot be read. Check its owner and mode." })
  })

/** Replaces the file with its links and mode, and keeps what it was; refuses if it has changed since it was read. */
const replace = Effect.fnUntraced(function* (
  path: string,
  before: { readonly text: string; readonly mode: number } | undefined,
  after: string
) {
  if ((yield* text(path))?.text !== before?.text)
    return yield* new StateUnusable({ path, detail: "it has just been changed by another program. Run this again." })
  yield* Effect.tryPromise({
    try: async () => {
      await Files.mkdir(dirname(path), { recursive: true })
      const target = before === undefined ? path : Files.realpathSync(path)
      if (before !== undefined) await Files.copyFile(target, `${target}.catenet-bak`)
      const staged = `${target}.catenet-new`
      await Files.writeFile(staged, after, { mode: before?.mode ?? 0o600 })
      await Files.chmod(staged, before?.mode ?? 0o600)
      await Files.rename(staged, target)
    },
    catch: () => new StateUnusable({ path, detail: "it cannot be written. Check the owner and mode of its folder." })
  })
})

/** The client of this name. */
export const known = Effect.fnUntraced(function* (client: string) {
  if (ClientConfiguration.isClient(client)) return client
  return yield* new UsageWrong({
    detail: `ct-agent knows no MCP client ${JSON.stringify(client)}. Use ${ClientConfiguration.listed}.`
  })
})

const put = Effect.fnUntraced(function* (options: Options, name: string, entry: ClientConfiguration.Entry) {
  const { file, yes } = options
  const screen = yield* Screen
  const client = yield* known(options.client)
  if (!/^[\w-]{1,64}$/u.test(name))
    return yield* new UsageWrong({ detail: "--name takes up to 64 letters, digits, - and _." })
  const path = file ?? ClientConfiguration.pathOf(client, homedir(), process.platform)
  const block = ClientConfiguration.blockOf(client, name, entry)
  const before = yield* text(path)
  const after = ClientConfiguration.added(before?.text ?? "", client, name, entry)
  if (Result.isFailure(after))
    return yield* new StateUnusable({
      path,
      detail: `${clause(after.failure.message)}. Nothing was written. Give another --name, or add this yourself:\n${block}`
    })
  if (!yes) {
    screen.log(block)
    const prompts = yield* Prompts.Prompts
    const answer = yield* prompts.ask(`Add this to ${path}? [y/N] `, false)
    if (Option.isNone(answer) || !/^y(es)?$/iu.test(answer.value.trim()))
      return yield* ConfigurationInvalid.of(path, "was left as it is", "answer y, or give --yes")
  }
  yield* replace(path, before, after.success)
  if (before !== undefined) screen.log(`The file as it was: ${path}.catenet-bak`)
  screen.log(`Added ${name}. Start the client again.`)
  screen.result(path)
}, Effect.provide(Prompts.Prompts.layer))

/** Adds the peer of the channel in a file. */
export const addFile = Effect.fn("mcp.addFile")(function* (options: Options, config: string) {
  const channel = yield* text(config)
  if (channel === undefined)
    return yield* ConfigurationInvalid.of(config, "does not exist", "name the file of the channel")
  yield* put(options, options.name ?? nameOf(config, channel.text), mcpEntry(resolve(config)))
})

export const add = Effect.fn("mcp.add")(function* ({ gateway, ...options }: Options & { readonly gateway: boolean }) {
  const config = yield* configFile
  yield* known(options.client)
  if (gateway) return yield* put(options, options.name ?? "catenet", gatewayEntry())
  if (config === undefined)
    return yield* new UsageWrong({
      detail: "--config is missing: name the file of the channel that ct-agent channel join has written."
    })
  yield* addFile(options, config)
})
