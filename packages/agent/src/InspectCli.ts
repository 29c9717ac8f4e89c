/** The definition of `inspect`. */
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

const off = Flag.withDefault(false)

export const inspect = Command.make(
  "inspect",
  {
    id: Argument.Int("request").pipe(Argument.optional, Argument.withDescription("Number of a request in the list")),
    search: Flag.String("search").pipe(
      Flag.optional,
      Flag.withMetavar("WORDS"),
      Flag.withDescription("Only requests with these words in their address, headers or bodies")
    ),
    replay: Flag.Boolean("replay").pipe(
      off,
      Flag.withDescription("Send the request to the origin again, and show the new one")
    ),
    har: Flag.Boolean("har").pipe(off, Flag.withDescription("Print an HTTP Archive (HAR 1.2)")),
    showSecrets: Flag.Boolean("show-secrets").pipe(off, Flag.withDescription("Do not mask passwords and tokens")),
    address: Flag.Boolean("address").pipe(off, Flag.withDescription("Print the address of the page, with its token")),
    port: Flag.Int("port").pipe(
      Flag.optional,
      Flag.withMetavar("PORT"),
      Flag.withDescription("Port of the inspector, where several run")
    )
  },
  loaded(async () => (await import("./commands/inspect.ts")).inspect)
).pipe(
  Command.withDescription(
    "Shows the last requests that reached the service behind a running ct-agent http, which opens the inspector on a " +
      "terminal or with --inspect, or one of them with its headers and bodies. Exit codes: 4 no such request, or not " +
      "replayed, 5 no inspector."
  ),
  Command.withShortDescription("Show the requests of a running agent"),
  Command.withExamples([
    { command: "ct-agent inspect", description: "The list, the newest last" },
    { command: "ct-agent inspect 12 --replay", description: "Send request 12 again" },
    { command: "ct-agent inspect --har > requests.har", description: "For a browser's developer tools" }
  ])
)
