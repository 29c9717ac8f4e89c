/** A Keycloak 26 with the realm of the guides, where `CATENET_KEYCLOAK_DIR` names an unpacked distribution; Java runs it. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../../stack/src/Ports.ts"
import { untilSuccess } from "../Eventually.ts"

const folder = process.env["CATENET_KEYCLOAK_DIR"] ?? ""
export const isInstalled = existsSync(join(folder, "bin/kc.sh"))

if (!isInstalled)
  process.stderr.write(
    "\nSKIPPED: the tests of Keycloak need its distribution 26 in the folder CATENET_KEYCLOAK_DIR.\n\n"
  )

export const realmFile = `${import.meta.dirname}/../../../../docs/keycloak/realm.json`
export const portal = "https://portal.example.net"
export const secrets = { portal: "portal-secret", gate: "gate-secret", manager: "manager-secret" }

/** Starts it with nothing but the realm, and answers its origin. */
export const start = Effect.gen(function* () {
  const home = mkdtempSync(join(tmpdir(), "catenet-keycloak-"))
  cpSync(folder, home, { recursive: true, filter: (path) => path !== join(folder, "data") })
  mkdirSync(join(home, "data/import"), { recursive: true })
  cpSync(realmFile, join(home, "data/import/realm.json"))
  const port = yield* freePort("127.0.0.1")
  const origin = `http://127.0.0.1:${port}`
  const args = ["start-dev", "--http-host=127.0.0.1", `--http-port=${port}`, "--import-realm", "--log-level=warn"]
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(join(home, "bin/kc.sh"), args, {
        // Its script starts Java, which ends with the group.
        detached: true,
        stdio: ["ignore", "ignore", "inherit"],
        env: {
          ...process.env,
          KC_BOOTSTRAP_ADMIN_USERNAME: "admin",
          KC_BOOTSTRAP_ADMIN_PASSWORD: "admin",
          CATENET_PORTAL_URL: portal,
          CATENET_PORTAL_SECRET: secrets.portal,
          CATENET_GATE_SECRET: secrets.gate,
          CATENET_MANAGER_SECRET: secrets.manager
        }
      })
    ),
    (child) =>
      Effect.promise(async () => {
        const ended = once(child, "exit")
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM")
        await ended
        rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
      })
  )
  const certificates = `${origin}/realms/catenet/protocol/openid-connect/certs`
  yield* untilSuccess(
    Effect.tryPromise(async () => {
      if (!(await fetch(certificates)).ok) throw new Error("not there yet")
    }),
    "5 minutes",
    "1 second"
  )
  return origin
})
