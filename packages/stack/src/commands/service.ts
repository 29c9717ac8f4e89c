/** `catenet service`: prints a unit of systemd that runs a program without root's rights. It installs nothing itself. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import * as VariableReader from "@catenet/platform/VariableReader"
import { ConfigProvider, Console, Effect, FileSystem, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { resolve } from "node:path"
import * as Logs from "../Logs.ts"
import * as PlatformFile from "../platform/PlatformFile.ts"
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

const warnOfHidden = Effect.fnUntraced(function* (command: ReadonlyArray<string>) {
  const hidden = command.find((word) => /^\/(?:home|root|run\/user|tmp|var\/tmp)\//.test(word))
  if (hidden !== undefined)
    yield* Effect.logWarning(`the service cannot read ${hidden}. Install the program for all users and print again.`)
})

const sayNext = (unit: string) =>
  Effect.logInfo(`Save this as /etc/systemd/system/${unit}.service, then: systemctl enable --now ${unit}`)

const ofPlatform = Effect.fnUntraced(function* (folder: string) {
  const [PlatformConfiguration, ServiceUnit] = yield* Effect.promise(() =>
    Promise.all([import("../platform/PlatformConfiguration.ts"), import("../service/ServiceUnit.ts")])
  )
  const paths = PlatformFile.pathsIn(folder)
  const { file, settings } = yield* PlatformConfiguration.read(paths)
  if (file.data !== ServiceUnit.platformData)
    return yield* ConfigurationInvalid.of(
      `data in ${paths.file}`,
      `must be ${ServiceUnit.platformData}, the only folder that the service may write to`,
      `write data: ${ServiceUnit.platformData}, and move what is in the old folder there`
    )
  const command = [process.execPath, resolve(process.argv[1] ?? "")]
  yield* warnOfHidden(command)
  const files = [paths.file, paths.schema, paths.variables, paths.password].filter((path) => Files.existsSync(path))
  const lowPort = [settings.frontDoor, settings.mesh, settings.controlPlane].some(({ port }) => port < 1024)
  yield* Console.log(ServiceUnit.renderPlatform({ command, files, lowPort }).trimEnd())
  yield* sayNext(ServiceUnit.platformUnit)
})

export const service = Command.make(
  "service",
  {
    program: Argument.Literals("PROGRAM", [...programs, "up"] as const).pipe(
      Argument.withDescription("Program to run; up is a whole platform on your own domain")
    ),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("For up: the folder that `catenet init` has written"),
      Flag.withDefault(PlatformFile.defaultFolder)
    ),
    config: Flag.String("config").pipe(
      Flag.optional,
      Flag.withDescription("File with the program's variables (default: /etc/catenet/PROGRAM.env)")
    )
  },
  Effect.fn(function* ({ config, folder, program }) {
    const { logFormat } = yield* root
    if (program === "up")
      return yield* ofPlatform(folder).pipe(Effect.provide(Logs.layer(logFormat, "catenet-service")))
    const [ServicePlan, ServiceUnit] = yield* Effect.promise(() =>
      Promise.all([import("../service/ServicePlan.ts"), import("../service/ServiceUnit.ts")])
    )
    const path = resolve(Option.getOrElse(config, () => `/etc/catenet/${program}.env`))
    yield* Effect.gen(function* () {
      const values = yield* valuesOf(yield* contentsOf(path), ServicePlan.variables(program))
      const plan = ServicePlan.plan(program, values)
      if (plan.problems.length > 0) return yield* new ConfigurationInvalid({ problems: plan.problems })
      const command = [process.execPath, resolve(process.argv[1] ?? ""), program]
      yield* warnOfHidden(command)
      yield* Console.log(ServiceUnit.render({ program, command, config: path, plan }).trimEnd())
      const unit = ServicePlan.unitName(program)
      yield* sayNext(unit)
    }).pipe(Effect.provide(Logs.layer(logFormat, "catenet-service")))
  })
).pipe(
  Command.withDescription(
    "Prints a systemd unit that starts `catenet serve`, `catenet edge` or a whole platform at boot, as a dynamic user without root\n" +
      "privileges and with one writable folder, /var/lib/catenet-PROGRAM. The program may bind ports below 1024\n" +
      "if the file names one. The variables come from the file; systemd reads the keys and certificates that they name."
  ),
  Command.withShortDescription("Print a systemd unit that does not need root")
)
