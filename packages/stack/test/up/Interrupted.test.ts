/** Scripts as npm starts them: npm passes a SIGTERM to its shell, which ends and passes nothing on. */
import { eventually } from "@catenet/testing/Eventually"
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Ports from "../../src/Ports.ts"

const script = fileURLToPath(new URL("../../../../scripts/run.mjs", import.meta.url))

it("a program that npm started ends with the shell between them", async () => {
  const listen = `127.0.0.1:${await Effect.runPromise(Ports.freePort("127.0.0.1"))}`
  const shell = spawn("sh", ["-c", `"$0" "$1" catenet origin; true`, process.execPath, script], {
    env: { ...process.env, npm_lifecycle_event: "start", CT_DEMO_ORIGIN_LISTEN: listen },
    stdio: "ignore"
  })
  const answers = () =>
    fetch(`http://${listen}/`).then(
      () => true,
      () => false
    )
  await eventually(answers, "the program answers")
  shell.kill("SIGTERM")
  await eventually(async () => !(await answers()), "the program ends")
})
