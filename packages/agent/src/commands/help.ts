/** `help variables`, and the arguments of the program before they are parsed. */
import * as Documentation from "@catenet/platform/Documentation"
import { Effect } from "effect"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as Variables from "../settings/Variables.ts"
import { wrap } from "../terminal/LineWrap.ts"
import { Screen } from "../terminal/Screen.ts"

// `--help` of an unknown command is a usage error, not the help of its parent.

/** A command and its subcommands, without arguments. */
export interface CommandTree {
  readonly name: string
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<CommandTree> }>
}

const isHelp = (word: string) => word === "--help" || word === "-h"

/** Whether the words before the first flag name a command. A command without subcommands may have arguments. */
const isKnown = (tree: CommandTree, [word, ...rest]: ReadonlyArray<string>): boolean => {
  const below = tree.subcommands.flatMap(({ commands }) => commands)
  if (word === undefined || below.length === 0) return true
  const next = below.find(({ name }) => name === word)
  return next !== undefined && isKnown(next, rest)
}

/** `channel convene`, the former name of `pipeline match`, and of `pipeline run` with `--run`. It is not in the help. */
const renamed = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = given.findIndex((word, index) => word === "channel" && given[index + 1] === "convene")
  if (at < 0) return given
  const rest = given.slice(at + 2)
  return [
    ...given.slice(0, at),
    "pipeline",
    rest.includes("--run") ? "run" : "match",
    ...rest.filter((word) => word !== "--run")
  ]
}

/** The arguments of the program. For an unknown command `--help` is removed, so that the error is reported. */
export const argumentsOf = (tree: CommandTree, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const given = renamed(args)
  const flag = given.findIndex((word) => word.startsWith("-"))
  const words = flag < 0 ? given : given.slice(0, flag)
  return isKnown(tree, words) ? given : given.filter((word) => !isHelp(word))
}

const sections = [
  ["Tunnels, logins and updates", Variables.agent],
  ["Operating and owning channels", ChannelOwnerVariables.operator],
  ["channel and its subcommands", { ...Variables.channel, ...Variables.ofMarket, grants: Variables.room.grants }],
  ["relay-node", Variables.relayNode]
] as const

export const variables = Effect.gen(function* () {
  const screen = yield* Screen
  for (const [title, variables] of sections) {
    screen.result(`${title}:`)
    screen.result(wrap(Documentation.help(variables)))
    screen.result("")
  }
  screen.result("To read a secret from a file, append _FILE to the name of its variable.")
})
