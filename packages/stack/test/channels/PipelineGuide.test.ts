/** The commands of the guide to pipelines, run by a shell, print what the guide shows. */
import { makeHome } from "@catenet/testing/agent/Agent"
import { agentProgram } from "@catenet/testing/agent/AgentProgram"
import { start } from "@catenet/testing/edge/TestEdge"
import { bearerOf, server } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const home = Effect.acquireRelease(Effect.promise(makeHome), (made) =>
  Effect.promise(() => made[Symbol.asyncDispose]())
)

const page = readFileSync(join(import.meta.dirname, "../../../../docs/pipelines.md"), "utf8")
const steps = [...page.matchAll(/```sh\n([\s\S]*?)```(?:\n+```text\n([\s\S]*?)```)?/gu)].map(
  ([, commands = "", printed = ""]) => ({ commands, printed })
)
/** Keys, channels, references and signatures differ from run to run; the page shows the first digits of them. */
const masked = (text: string) => text.replaceAll(/\b[0-9a-f]{64,}\b|\b[0-9a-f]{4}…/gu, "HEX")
const shim = `#!/bin/sh\nexec "${process.execPath}" "${agentProgram}" "$@"\n`
/** A provider is healthy when it waits at the edge. */
const awaitProviders = `for role in writer critic guard; do
  for i in $(seq 300); do
    curl -fs -o healthz "$(grep -o 'http://[0-9.:]*' $role.log | head -n 1)/healthz" && break; sleep 0.1
  done
done`

layer(server(), { excludeTestServices: true, timeout: "120 seconds" })("a pipeline", (it) => {
  it.effect("is set up and run by the commands of the guide to pipelines, which print what it shows", () =>
    Effect.gen(function* () {
      const at = yield* home
      const token = yield* bearerOf("olga")
      const { bound, frontDoor, meshRoot } = yield* start({
        CT_EDGE_CP_URL: yield* TestServer.baseUrl,
        CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
        CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0"
      })
      const edge = [
        `CT_CHANNEL_BROKER=127.0.0.1:${bound.channelBroker?.port}`,
        `CT_CHANNEL_RELAY=127.0.0.1:${bound.channelRelay?.port}`,
        `CT_CHANNEL_FRONT_DOOR=127.0.0.1:${frontDoor}`,
        `CT_CHANNEL_FRONT_DOOR_CERT=${new X509Certificate(meshRoot).raw.toString("hex")}`,
        "CT_AGENT_METRICS_LISTEN=127.0.0.1:0"
      ]
      assert.lengthOf(steps, 6)
      const script = [
        "trap 'kill $(jobs -p) || true' EXIT",
        ...steps.map(({ commands }, index) => `${index === 4 ? awaitProviders : ""}\n${commands}\necho "== ${index}"\n`)
      ].join("\n")
      const env = {
        PATH: `${at.path}:${process.env["PATH"]}`,
        HOME: at.path,
        CT_AGENT_CP_URL: yield* TestServer.baseUrl,
        CT_OIDC_TOKEN: token
      }
      const { stdout } = yield* Effect.promise(async () => {
        await writeFile(join(at.path, "ct-agent"), shim, { mode: 0o755 })
        await writeFile(join(at.path, "edge.env"), `${edge.join("\n")}\n`)
        return promisify(execFile)("bash", ["-eu", "-c", script], { cwd: at.path, env })
      })
      const printed = stdout.split(/== \d\n/u).slice(0, steps.length)
      assert.deepStrictEqual(
        printed.map(masked),
        steps.map((step) => masked(step.printed))
      )
    }).pipe(Effect.scoped)
  )
})
