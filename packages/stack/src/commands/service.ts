/** `catenet service`: prints a unit of systemd that runs a program without root's rights. It installs nothing itself. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { ConfigProvider, Console, Effect, FileSystem, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { resolve } from "node:path"
import * as Logs from "../Logs.ts"
import { programs } from "../service/ServicePlan.ts"
import { root } from "./root.ts"

const contentsOf = Effect.fnUntraced(function* (config: string) {
  const fs = yield* FileSystem.FileSystem
  const contents = yield* fs
    .readFileString(config)
    .pipe(
      Effect.mapError(() =>
        ConfigurationInvalid.of(
          `The file ${config}`,
          "cannot be read",
          "write the program's variables into it, or correct --config"
        )
      )
    )
  const open = yield* fs.stat(config).pipe(
    Effect.map(({ mode }) => (mode & 0o077) !== 0),
    Effect.orElseSucceed(() => false)
  )
  if (open) yield* Effect.logWarning(`others can read ${config} and the secrets in it. Run: chmod 600 ${config}`)
  return contents
})

const valuesOf = (contents: string, names: ReadonlyArray<string>) =>
  Effect.map(
    VariableReader.textsOf(ConfigProvider.fromDotEnvContents(contents), names),
    (texts) => new Map(Object.entries(texts))
  )

export const service = Command.make(
  "service",
  {
    program: Argument.Literals("PROGRAM", programs).pipe(Argument.withDescription("Program to run")),
    config: Flag.String("config").pipe(
      Flag.optional,
      Flag.withDescription("File with the program's variables (default: /etc/catenet/PROGRAM.env)")
    )
  },
  Effect.fn(function* ({ config, program }) {
    const { logFormat } = yield* root
    const [ServicePlan, ServiceUnit] = yield* Effect.promise(() =>
      Promise.all([import("../service/ServicePlan.ts"), import("../service/ServiceUnit.ts")])
    )
    const path = resolve(Option.getOrElse(config, () => `/etc/catenet/${program}.env`))
    yield* Effect.gen(function* () {
      const values = yield* valuesOf(yield* contentsOf(path), ServicePlan.variables(program))
      const plan = ServicePlan.plan(program, values)
      if (plan.problems.length > 0) return yield* new ConfigurationInvalid({ problems: plan.problems })
      const command = [process.execPath, resolve(process.argv[1] ?? ""), program]
      const hidden = command.find((word) => /^\/(?:home|root|run\/user|tmp|var\/tmp)\//.test(word))
      if (hidden !== undefined)
        yield* Effect.logWarning(
          `the service cannot read ${hidden}. Install the program for all users and print again.`
        )
      yield* Console.log(ServiceUnit.render({ program, command, config: path, plan }).trimEnd())
      const unit = ServicePlan.unitName(program)
      yield* Effect.logInfo(`Save this as /etc/systemd/system/${unit}.service, then: systemctl enable --now ${unit}`)
    }).pipe(Effect.provide(Logs.layer(logFormat, "catenet-service")))
  })
).pipe(
  Command.withDescription(
    "Prints a systemd unit that starts `catenet serve` or `catenet edge` at boot, as a dynamic user without root\n" +
      "privileges and with one writable folder, /var/lib/catenet-PROGRAM. The program may bind ports below 1024\n" +
      "if the file names one. The variables come from the file; systemd reads the keys and certificates that they name."
  ),
  Command.withShortDescription("Print a systemd unit that does not need root")
)
