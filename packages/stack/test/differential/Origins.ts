/** Origins in three languages, each a process that says what it understood of every request. */
import { Effect, Schema } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { createInterface } from "node:readline"

const Seen = Schema.Struct({
  port: Schema.String,
  method: Schema.String,
  target: Schema.String,
  host: Schema.String,
  fields: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  body: Schema.String,
  whole: Schema.Boolean
})
export type Seen = typeof Seen.Type
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Seen))

export interface Origin {
  readonly language: string
  readonly port: number
  /** Where to put what it understands on a connection, by the port at the other end. */
  readonly seen: Map<string, Array<Seen>>
}

const here = import.meta.dirname
const path = [process.env["PATH"] ?? "", "/usr/local/go/bin"].join(delimiter)
const env = { ...process.env, PATH: path, GO111MODULE: "off", GOTOOLCHAIN: "local", CGO_ENABLED: "0" }

const found = (program: string) => path.split(delimiter).some((folder) => existsSync(join(folder, program)))

/** How each is started; nothing where the language is missing. */
const commands = (
  folder: string
): ReadonlyArray<readonly [language: string, command: ReadonlyArray<string> | undefined]> => {
  const binary = join(folder, "origin")
  const compile = () => spawnSync("go", ["build", "-o", binary, join(here, "origin.go")], { env }).status === 0
  return [
    ["go", found("go") && compile() ? [binary] : undefined],
    ["node", [process.execPath, join(here, "origin.ts")]],
    ["python", found("python3") ? ["python3", join(here, "origin.py")] : undefined]
  ]
}

const start = (language: string, [program = "", ...rest]: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const child = spawn(program, rest, { env, stdio: ["ignore", "pipe", "ignore"] })
        const seen = new Map<string, Array<Seen>>()
        const port = await new Promise<number>((resolve, reject) => {
          child.once("exit", () => reject(new Error(`the ${language} origin ended`)))
          createInterface({ input: child.stdout }).on("line", (line) => {
            if (/^\d+$/.test(line)) return resolve(Number(line))
            const one = decode(line)
            seen.get(one.port)?.push(one)
          })
        })
        return { child, origin: { language, port, seen } satisfies Origin }
      }),
      ({ child }) => Effect.sync(() => void child.kill("SIGKILL"))
    ),
    ({ origin }) => origin
  )

/** Those whose language this machine has; one that is missing is said on the error output. */
export const startAll = Effect.fnUntraced(function* (folder: string) {
  const origins: Array<Origin> = []
  for (const [language, command] of commands(folder)) {
    if (command === undefined) process.stderr.write(`NOT TESTED: there is no ${language} here for an origin\n`)
    else origins.push(yield* start(language, command))
  }
  return origins
})
