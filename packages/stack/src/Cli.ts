/** The command line of `catenet`: every command below one root. */
import * as UsageFormatter from "@catenet/agent/internal/terminal/UsageFormatter"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect } from "effect"
import { Command } from "effect/cli"
import { acme } from "./commands/acme.ts"
import { backup, restore } from "./commands/backup.ts"
import { edge } from "./commands/edge.ts"
import { help } from "./commands/help.ts"
import { idp } from "./commands/idp.ts"
import { migrate } from "./commands/migrate.ts"
import { origin } from "./commands/origin.ts"
import { receipts } from "./commands/receipts.ts"
import { root } from "./commands/root.ts"
import { serve } from "./commands/serve.ts"
import { service } from "./commands/service.ts"
import { up } from "./commands/up.ts"
import { version } from "./Version.ts"

export const program = root.pipe(
  Command.withSubcommands([up, serve, edge, migrate, backup, restore, receipts, service, idp, acme, origin, help])
)

/** The program with these arguments. Fails with a `CliError` on wrong usage. */
export const runWith = (args: ReadonlyArray<string>) =>
  Command.runWith(program, { version, renderErrors: true })(args).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provide(UsageFormatter.layer),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true })))
  )
