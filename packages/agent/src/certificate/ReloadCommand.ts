/** CT_ACME_RELOAD_CMD: lets a server that holds the pair itself take the new one. It gets none of the agent's variables. */
import { Effect } from "effect"
import { execFile } from "node:child_process"

const bound = 60_000
const longestOutput = 65_536

/** Runs the command with `sh`. That it fails is said; the certificate is there all the same. */
export const run = Effect.fn("ReloadCommand.run")(function* (command: string, folder: string) {
  const path = process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
  const failed = yield* Effect.callback<string | undefined>((resume) => {
    const child = execFile(
      "/bin/sh",
      ["-c", command],
      {
        timeout: bound,
        killSignal: "SIGKILL",
        maxBuffer: longestOutput,
        env: { PATH: path, CT_ACME_CERT_OUT_DIR: folder }
      },
      (error) => resume(Effect.succeed(error === null ? undefined : error.message.split("\n")[0]))
    )
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
  yield* failed === undefined
    ? Effect.logInfo("CT_ACME_RELOAD_CMD was run")
    : Effect.logWarning(`CT_ACME_RELOAD_CMD failed: ${failed}`)
})
