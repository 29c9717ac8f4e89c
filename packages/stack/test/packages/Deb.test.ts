/** The Debian package of the agent, at a machine of its own: installed, started by systemd, upgraded, removed, purged. */
import { eventually } from "@catenet/testing/Eventually"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { BuiltRelease } from "./BuiltRelease.ts"
import { DebianMachine } from "./DebianMachine.ts"

const { missing } = DebianMachine
if (missing !== "") process.stderr.write(`\nSKIPPED: the Debian package is not installed, for want of ${missing}.\n\n`)

/** Built once more in another folder, which `npm run campaign` does. */
const inFull = process.env["CATENET_PACKAGES"] === "1"

const architecture = process.arch === "arm64" ? "arm64" : "amd64"
const revision = (number: number) => `ct-agent_0.1.0-${number}_${architecture}.deb`
const configuration = "/etc/ct-agent/ct-agent.env"

describe.skipIf(missing !== "")("the Debian package", () => {
  const work = mkdtempSync(join(tmpdir(), "catenet-deb-"))
  let release: BuiltRelease
  let machine: DebianMachine

  beforeAll(async () => {
    const shared = join(work, "one", "0.1.0")
    mkdirSync(shared, { recursive: true })
    const starting = DebianMachine.start(join(work, "machine"), shared)
    release = await BuiltRelease.in(join(work, "one"))
    await build(release, 1)
    await build(release, 2)
    machine = await starting
  })
  afterAll(async () => {
    await machine?.end()
    rmSync(work, { recursive: true, force: true })
  })

  const build = async (of: BuiltRelease, number: number) => {
    const { said, status } = await of.package("--only", "deb", "--revision", String(number))
    assert.strictEqual(status, 0, said)
  }
  const install = (number: number) => machine.do(`dpkg --install --force-unsafe-io /mnt/${revision(number)} 2>&1`)
  const isActive = () => machine.run("systemctl is-active ct-agent").text.trim()
  const show = (...properties: ReadonlyArray<string>) =>
    machine.do(`systemctl show ct-agent ${properties.map((name) => `-p ${name}`).join(" ")} --value`).split("\n")

  it.runIf(inFull)("has the same bytes when it is built in another folder", async () => {
    const again = await BuiltRelease.in(join(work, "two"))
    await build(again, 1)
    assert.strictEqual(release.sha256(revision(1)), again.sha256(revision(1)))
    assert.notStrictEqual(release.sha256(revision(1)), release.sha256(revision(2)))
  })

  it("names every library that the program is linked to, in a version that has its symbols", () => {
    const field = String(spawnSync("dpkg-deb", ["--field", release.path(revision(1)), "Depends"]).stdout)
    const symbols = String(spawnSync("readelf", ["--version-info", release.path(release.asset)]).stdout)
    const newest = (family: string) =>
      Math.max(
        ...[...symbols.matchAll(new RegExp(`Name: ${family}_2\\.(\\d+)`, "gu"))].map(([, minor]) => Number(minor))
      )
    assert.include(field, `libc6 (>= 2.${newest("GLIBC")})`)
    for (const [library, name] of [
      ["libatomic.so.1", "libatomic1"],
      ["libstdc++.so.6", "libstdc++6"],
      ["libgcc_s.so.1", "libgcc-s1"]
    ] as const) {
      assert.include(symbols, library)
      assert.include(field, name)
    }
  })

  it("is installed, started, upgraded, removed and purged", { timeout: 120_000 }, async () => {
    assert.include(install(1), `is not configured yet: write ${configuration}`)
    assert.strictEqual(isActive(), "inactive")
    assert.strictEqual(machine.do("systemctl is-enabled ct-agent"), "enabled")
    assert.strictEqual(machine.do(`stat -c '%U:%G %a' ${configuration}`), "root:ct-agent 640")
    assert.strictEqual(machine.do("ct-agent --version"), "ct-agent 0.1.0")
    assert.strictEqual(machine.do("dpkg --verify ct-agent"), "")

    // Its control plane does not answer, and the agent waits until it does.
    machine.do(
      `sed -i 's/^#CT_AGENT_MODE=.*/CT_AGENT_MODE=browser/' ${configuration} && printf '%s\\n' ` +
        `CT_AGENT_CP_URL=http://127.0.0.1:8090 CT_AGENT_HOSTNAME=a.example CT_AGENT_TOKEN=${"ab".repeat(32)} ` +
        `CT_AGENT_METRICS_LISTEN=127.0.0.1:9610 >>${configuration}`
    )
    machine.do("systemctl start ct-agent")
    await eventually(
      () => machine.run("curl -fsS http://127.0.0.1:9610/status").status === 0,
      () => machine.run("journalctl --no-pager -u ct-agent").text
    )
    const [first = ""] = show("MainPID")
    const status = machine.do(`cat /proc/${first}/status`)
    const user = machine.do("id -u ct-agent")
    assert.match(status, new RegExp(`^Uid:\\t${user}\\t${user}\\t${user}\\t${user}$`, "mu"))
    assert.match(status, /^CapEff:\t0{16}$/mu)
    assert.match(status, /^NoNewPrivs:\t1$/mu)
    assert.match(status, /^Seccomp:\t2$/mu)
    assert.strictEqual(machine.do("stat -c '%U %a' /var/lib/ct-agent"), "ct-agent 700")
    const exposed = machine.do("systemd-analyze security ct-agent --no-pager | tail -n 1")
    assert.isAtMost(Number(/: (\d+\.\d+)/u.exec(exposed)?.[1]), 1.7, exposed)

    // An upgrade keeps what the administrator wrote and what the agent is, and runs the new program.
    const before = machine.do(`cat ${configuration}`)
    const identity = machine.do("ls -A /var/lib/ct-agent/state")
    install(2)
    assert.strictEqual(machine.do(`cat ${configuration}`), before)
    assert.strictEqual(machine.do(`stat -c '%U:%G %a' ${configuration}`), "root:ct-agent 640")
    await eventually(() => isActive() === "active" && !["0", first].includes(show("MainPID")[0] ?? "0"), "it restarts")
    assert.strictEqual(machine.do("ls -A /var/lib/ct-agent/state"), identity)

    // A service that was stopped and disabled stays so.
    machine.do("systemctl disable --now ct-agent")
    machine.do(`dpkg --install --force-unsafe-io --force-downgrade /mnt/${revision(1)}`)
    assert.strictEqual(isActive(), "inactive")
    assert.strictEqual(machine.run("systemctl is-enabled ct-agent").text.trim(), "disabled")
    machine.do("systemctl enable --now ct-agent")

    machine.do("dpkg --remove ct-agent")
    assert.strictEqual(machine.run("pgrep -x ct-agent").status, 1)
    assert.notStrictEqual(machine.run("command -v ct-agent").status, 0)
    assert.strictEqual(machine.do(`cat ${configuration}`), before)
    install(1)
    await eventually(() => isActive() === "active", "it is started, as it is configured")
    machine.do("dpkg --purge ct-agent")
    for (const path of [
      "/etc/ct-agent",
      "/var/lib/ct-agent",
      "/etc/systemd/system/multi-user.target.wants/ct-agent.service"
    ])
      assert.notStrictEqual(machine.run(`test -e ${path} || test -L ${path}`).status, 0, path)
    assert.strictEqual(machine.do("systemctl --failed --no-legend | grep -c ct-agent || true"), "0")
  })
})
