/** The definition of `inspect`. */
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

const off = Flag.withDefault(false)

/** Of the commands that serve what variables or a file describe. */
export const inspecting = {
  inspect: Flag.Boolean("inspect").pipe(
    off,
    Flag.withDescription("Show the requests of all services at http://127.0.0.1:4040")
  )
}

export const inspect = Command.make(
  "inspect",
  {
    id: Argument.Int("request").pipe(Argument.optional, Argument.withDescription("Number of a request in the list")),
    search: Flag.String("search").pipe(
      Flag.optional,
      Flag.withMetavar("WORDS"),
      Flag.withDescription("Only requests with these words in their address, headers or bodies")
    ),
    service: Flag.String("service").pipe(
      Flag.optional,
      Flag.withMetavar("NAME"),
      Flag.withDescription("Only requests of this service, of an agent that serves several")
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
    "Shows the last requests that reached the services behind a running agent that was started with --inspect " +
      "(ct-agent http opens the inspector on a terminal by itself), or one of them with its headers and bodies. Exit codes: 4 no such request, or not " +
      "replayed, 5 no inspector."
  ),
  Command.withShortDescription("Show the requests of a running agent"),
  Command.withExamples([
    { command: "ct-agent inspect", description: "The list, the newest last" },
    { command: "ct-agent inspect 12 --replay", description: "Send request 12 again" },
    { command: "ct-agent inspect --har > requests.har", description: "For a browser's developer tools" }
  ])
)
