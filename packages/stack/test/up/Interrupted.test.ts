/** Scripts as npm starts them: npm passes a SIGTERM to its shell, which ends and passes nothing on. */
import { it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { createServer, type AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { eventually } from "../../../domain/test/Eventually.ts"

const script = fileURLToPath(new URL("../../../../scripts/run.mjs", import.meta.url))

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

it("a program that npm started ends with the shell between them", async () => {
  const listen = `127.0.0.1:${await freePort()}`
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
