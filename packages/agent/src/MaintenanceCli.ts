/** The commands that keep an agent running and up to date. */
import { Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"
import { managers } from "./service/ServiceDefinition.ts"

export const service = Command.make(
  "service",
  {
    manager: Flag.Literals("for", managers).pipe(
      Flag.optional,
      Flag.withDescription("The service manager; without it that of this system")
    )
  },
  loaded(
    () => import("./commands/service.ts"),
    ({ service }, { manager }) => service(manager)
  )
).pipe(
  Command.withDescription(
    "Prints a unit of systemd or a property list of launchd that runs this program with the file of --config (default " +
      "./ct-agent.env) from the start of the machine on. It is started again when it ends, but by systemd not with exit code 2, 3 " +
      "or 4, which ask for a change of the configuration first."
  ),
  Command.withShortDescription("Print a service definition that keeps the agent running"),
  Command.withExamples([
    { command: "ct-agent service > /etc/systemd/system/ct-agent.service", description: "On Linux, as root" }
  ])
)

export const update = Command.make(
  "update",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Only say whether there is a newer release")
    )
  },
  loaded(
    () => import("./commands/update.ts"),
    ({ update }, options) => update(options)
  )
).pipe(
  Command.withDescription(
    "Replaces this program by the newest release of the control plane, if it is newer, signed by a pinned key, and runs on this " +
      "machine. Nothing is written before it verifies. The old program is kept until the new one has registered; if that does not " +
      "happen within two minutes of a start, the old one comes back. CT_AGENT_AUTO_UPDATE=1 does this while the agent serves."
  ),
  Command.withShortDescription("Update this program"),
  Command.withExamples([
    { command: "ct-agent update", description: "The newest release from now on" },
    { command: "ct-agent update --check", description: "Look, and change nothing" }
  ])
)
