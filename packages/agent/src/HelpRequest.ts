/** Help of a command that is not there is wrong usage, and not the help of another command. */

/** A command by its name and those below it; what a command takes itself is not known here. */
export interface CommandTree {
  readonly name: string
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<CommandTree> }>
}

const isHelp = (word: string) => word === "--help" || word === "-h"

/** Whether the words before the first flag lead to a command. One without others below it may take them as its arguments. */
const isKnown = (tree: CommandTree, [word, ...rest]: ReadonlyArray<string>): boolean => {
  const below = tree.subcommands.flatMap(({ commands }) => commands)
  if (word === undefined || below.length === 0) return true
  const next = below.find(({ name }) => name === word)
  return next !== undefined && isKnown(next, rest)
}

/** The arguments of the program, without the wish for help where the command is unknown, which is said then. */
export const argumentsOf = (tree: CommandTree, given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const flag = given.findIndex((word) => word.startsWith("-"))
  const args = flag < 0 ? given : given.slice(0, flag)
  return isKnown(tree, args) ? given : given.filter((word) => !isHelp(word))
}
