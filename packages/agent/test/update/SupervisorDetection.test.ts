import { assert, describe, it } from "vitest"
import { isSupervised } from "../../src/update/TrialRole.ts"

const cases: ReadonlyArray<
  readonly [boolean, string, NodeJS.Platform, Readonly<Record<string, string>>, pid?: number, ppid?: number]
> = [
  [false, "a terminal", "linux", {}],
  [false, "a terminal of a desktop", "linux", { INVOCATION_ID: "x", SYSTEMD_EXEC_PID: "900" }],
  [true, "a unit of systemd", "linux", { INVOCATION_ID: "x", SYSTEMD_EXEC_PID: "100" }],
  [true, "a child of a unit, on trial", "linux", { INVOCATION_ID: "x", SYSTEMD_EXEC_PID: "50" }],
  [true, "a unit of an old systemd", "linux", { INVOCATION_ID: "x" }, 100, 1],
  [true, "a container", "linux", {}, 1, 0],
  [true, "supervisord", "linux", { SUPERVISOR_ENABLED: "1" }],
  [true, "OpenRC", "linux", { RC_SVCNAME: "ct-agent" }],
  [true, "a pod", "linux", { KUBERNETES_SERVICE_HOST: "10.0.0.1" }],
  [false, "Terminal", "darwin", { XPC_SERVICE_NAME: "0" }],
  [false, "a login by SSH", "darwin", {}],
  [true, "launchd", "darwin", { XPC_SERVICE_NAME: "net.catenet.agent" }],
  [true, "launchd of old", "darwin", {}, 100, 1],
  [false, "a console", "win32", { SESSIONNAME: "Console" }],
  [false, "a remote desktop", "win32", { SESSIONNAME: "RDP-Tcp#1" }],
  [true, "a service of Windows", "win32", {}]
]

describe("a supervisor", () => {
  for (const [expected, name, platform, env, pid = 100, ppid = 50] of cases)
    it(`is ${expected ? "" : "not "}there in ${name}`, () =>
      assert.strictEqual(isSupervised({ platform, env, pid, ppid }), expected))
})
