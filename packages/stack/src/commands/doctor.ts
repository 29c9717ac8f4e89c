/** `catenet doctor`: checks a platform of one's own from its files outward, with a remedy for each fault. */
import type { Checked } from "@catenet/agent/internal/doctor/DoctorCheck"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Logs from "../Logs.ts"
import * as PlatformFile from "../platform/PlatformFile.ts"
import { root } from "./root.ts"

const mark = { ok: "ok     ", failed: "FAILED ", skipped: "-      " } as const

const line = ({ finding: { check, detail, outcome } }: Checked) => `${mark[outcome]} ${check.padEnd(22)} ${detail}`

export const doctor = Command.make(
  "doctor",
  {
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Folder that `catenet init` has written"),
      Flag.withDefault(PlatformFile.defaultFolder)
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print the findings as JSON"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ folder, json }) {
    const { logFormat } = yield* root
    const [PlatformConfiguration, PlatformChecks] = yield* Effect.promise(() =>
      Promise.all([import("../platform/PlatformConfiguration.ts"), import("../platform/PlatformChecks.ts")])
    )
    yield* Effect.gen(function* () {
      const paths = PlatformFile.pathsIn(folder)
      const configuration = yield* PlatformConfiguration.read(paths)
      if (!json) yield* Console.log(`${mark.ok} ${"configuration".padEnd(22)} ${paths.file}`)
      const found: Array<Checked> = []
      for (const check of PlatformChecks.all(paths, configuration)) {
        const checked = yield* check
        found.push(checked)
        if (!json) yield* Console.log(line(checked))
      }
      const first = found.find(({ failure }) => failure !== undefined)?.failure
      const findings = found.map(({ finding }) => finding)
      if (json) yield* Console.log(JSON.stringify({ healthy: first === undefined, findings }))
      if (first !== undefined) return yield* Effect.fail(first)
    }).pipe(Effect.provide(Logs.layer(logFormat, "catenet-doctor")))
  })
).pipe(
  Command.withDescription(
    "Checks the platform of a domain: files, disk, programs, control plane, sign-in, DNS records, ports by the public name,\n" +
      "certificate authority and clock, certificates. Shows every finding with its remedy, changes nothing, and ends with the\n" +
      "exit code of the first fault (3 configuration, 4 refused, 5 unreachable)."
  ),
  Command.withShortDescription("Check a platform and say what to repair"),
  Command.withExamples([
    { command: "catenet doctor", description: "The platform of /etc/catenet" },
    { command: "catenet doctor --json", description: "For monitoring" }
  ])
)
