/** `help variables`: every variable that a command of this program reads. */
import * as Documentation from "@catenet/platform/Documentation"
import { Effect } from "effect"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as Variables from "../settings/Variables.ts"
import { wrap } from "../terminal/LineWrap.ts"
import { Screen } from "../terminal/Screen.ts"

const sections = [
  ["A tunnel, its login and what stands around it", Variables.agent],
  ["Making channels and their members", ChannelOwnerVariables.operator],
  ["channel and the commands below it", { ...Variables.channel, ...Variables.ofMarket, grants: Variables.room.grants }],
  ["relay-node", Variables.relayNode]
] as const

export const variables = Effect.gen(function* () {
  const screen = yield* Screen
  for (const [title, variables] of sections) {
    screen.result(`${title}:`)
    screen.result(wrap(Documentation.help(variables)))
    screen.result("")
  }
  screen.result("A secret may stand in a file of its own: add _FILE to the name of its variable.")
})
