import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { banner } from "../../src/up/Banner.ts"
import * as Demo from "../../src/up/Demo.ts"
import * as Settings from "../../src/up/Settings.ts"
import * as StackFolder from "../../src/up/StackFolder.ts"
import { root } from "../architecture/Imports.ts"

const secrets = {
  edgeAdminToken: "",
  portalClientSecret: "",
  gateClientSecret: "",
  managerClientSecret: "",
  acmeBindingKey: "s",
  demoChannelSecret: "s",
  bridgeHolderKey: "s",
  bridgeNoiseKey: "s",
  releaseSeed: "07".repeat(32),
  demoPassword: "b3pXv0TQm1Yc",
  sealKey: "5e".repeat(32)
}

const printed = (demo: boolean, quic = true) =>
  Effect.gen(function* () {
    const settings = yield* Settings.read
    const folder = StackFolder.at(join(process.cwd(), settings.folder))
    return banner({ settings, folder, secrets, quic, demo: demo ? { demoHostname: Demo.demoHostname } : undefined })
  }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))))

describe("what `npm start` prints", () => {
  it.effect("is what the README shows", () =>
    Effect.gen(function* () {
      const readme = readFileSync(join(root, "README.md"), "utf8")
      const [, shown = ""] = /```text\n([\s\S]*?)```/.exec(readme) ?? []
      assert.strictEqual(shown.trim(), (yield* printed(true)).trim())
    })
  )

  it.effect("fits one screen, and shows no tunnel without the demo", () =>
    Effect.gen(function* () {
      const lines = (yield* printed(true)).split("\n")
      assert.isBelow(lines.length, 32)
      assert.isTrue(lines.every((line) => line.length <= 120))
      assert.notInclude(yield* printed(false), Demo.demoHostname)
      assert.notInclude(yield* printed(true, false), "UDP")
    })
  )
})
