/** Command definitions for public ports. */
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

const options = {
  target: Argument.String("port"),
  name: Flag.String("name").pipe(
    Flag.optional,
    Flag.withMetavar("NAME"),
    Flag.withDescription("Name of the tunnel, which is created if it does not exist (default: machine and port)")
  ),
  port: Flag.Int("port").pipe(
    Flag.optional,
    Flag.withMetavar("PORT"),
    Flag.withDescription("Public port to ask for (default: one is allotted)")
  ),
  rm: Flag.Boolean("rm").pipe(Flag.withDefault(false), Flag.withDescription("Delete the tunnel when the command ends"))
}

export const tcp = Command.make(
  "tcp",
  options,
  loaded(async () => (await import("./commands/port.ts")).tcp)
).pipe(
  Command.withDescription(
    "Gives a local TCP service a public port: serves a tunnel of your account and prints its address on stdout. " +
      "Requires a login (ct-agent login), and an edge that offers ports. Instead of a port you can give host:port. " +
      "Visitors' bytes reach the service as they are; nothing asks them for a login. Ctrl-C stops it; the next run " +
      "serves the same port, unless you give --rm."
  ),
  Command.withShortDescription("Give a local TCP service a public port"),
  Command.withExamples([
    { command: "ct-agent tcp 22", description: "SSH of this machine" },
    { command: "ct-agent tcp 10.0.0.5:5432 --name db --port 20432", description: "A database beside it" }
  ])
)

export const udp = Command.make(
  "udp",
  options,
  loaded(async () => (await import("./commands/port.ts")).udp)
).pipe(
  Command.withDescription(
    "Gives a local UDP service a public port, as ct-agent tcp does for TCP. Each client has a session, which ends " +
      "after a minute without a datagram. After its first datagram, a client address gets at most as many bytes " +
      "as it has sent; from its second datagram on, answers are not limited."
  ),
  Command.withShortDescription("Give a local UDP service a public port"),
  Command.withExamples([{ command: "ct-agent udp 27015 --name game", description: "A game server" }])
)
