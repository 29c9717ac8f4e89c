/** The command that all others hang below, and the flags that they share. */
import { Command, Flag } from "effect/cli"

export const root = Command.make("catenet").pipe(
  Command.withSharedFlags({
    logFormat: Flag.Literals("log-format", ["text", "json"]).pipe(
      Flag.withDescription("How log lines are written to standard error, one line an event"),
      Flag.withDefault("text" as const)
    )
  }),
  Command.withDescription(
    "Runs the platform: tunnels give a service behind NAT a public HTTPS name, channels let agents call each other.\n" +
      "Everything is configured by CT_* variables; `docs/operations.md` lists them. Exit codes: 2 usage, 3 configuration."
  )
)
