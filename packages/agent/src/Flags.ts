/** Flags that every command accepts. */
import { Effect, Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { defaultFile } from "./settings/EnvironmentFile.ts"
import { line } from "./Version.ts"

export const Version = GlobalFlag.Action({
  flag: Flag.Boolean("version").pipe(
    Flag.withAlias("V"),
    Flag.withDescription("Print the program's name and version"),
    Flag.withDefault(false)
  ),
  run: () => Effect.sync(() => void process.stdout.write(`${line}\n`))
})

export const ConfigFile = GlobalFlag.Setting("config")({
  flag: Flag.String("config").pipe(
    Flag.optional,
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      `File of KEY=VALUE lines with the CT_* variables; environment variables take precedence (default: ${defaultFile} if ` +
        "it exists). A file that ends in .yaml, .yml or .json describes many services"
    )
  )
})

export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Write logs as JSON lines on stderr and results as JSON on stdout"),
    Flag.withDefault(false)
  )
})

/** Of the commands that serve tools. */
export const confirm = Flag.String("confirm").pipe(
  Flag.withMetavar("TOOL"),
  Flag.withDescription(
    "Tool whose calls wait up to 60 s until you allow them at the terminal, with * for any characters, such as " +
      "'write_*'; give the flag once for each"
  ),
  Flag.atLeast(0)
)

/** Of members that serve tools. */
export const inspectCalls = Flag.Boolean("inspect").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Show the calls with their arguments and answers at http://127.0.0.1:4040")
)

/** The file named by `--config`. */
export const configFile = Effect.map(ConfigFile, Option.getOrUndefined)
