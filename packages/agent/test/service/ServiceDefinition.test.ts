import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as ServiceDefinition from "../../src/service/ServiceDefinition.ts"

const service = {
  what: "shop.example",
  command: ["/opt/node bin/node", '/a "b"\\c/100%$HOME.js', "--config", "/etc/<x>&y/ct-agent.env"],
  folder: "/etc/<x>&y",
  user: "pi",
  writes: ["/etc/<x>&y", "/var/lib/ct-agent"],
  lowPort: false
}

describe("a service definition", () => {
  it("of systemd quotes every word, and does not restart after an exit code that needs a person", () => {
    const unit = ServiceDefinition.render("systemd", service)
    assert.include(
      unit,
      '\nExecStart="/opt/node bin/node" "/a \\"b\\"\\\\c/100%%$$HOME.js" "--config" "/etc/<x>&y/ct-agent.env"\n'
    )
    for (const line of ["Restart=always", "RestartPreventExitStatus=2 3 4", "User=pi", "WorkingDirectory=/etc/<x>&y"])
      assert.include(unit, `\n${line}\n`)
  })

  it("of systemd drops rights that the agent does not need, and systemd accepts it", () => {
    const unit = ServiceDefinition.render("systemd", { ...service, command: [process.execPath], folder: "/etc" })
    for (const line of ["NoNewPrivileges=yes", "CapabilityBoundingSet=", "SystemCallFilter=~@privileged"])
      assert.include(unit, `\n${line}\n`)
    const low = ServiceDefinition.render("systemd", { ...service, lowPort: true })
    assert.include(low, "\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\n")
    assert.notInclude(unit, "MemoryDenyWriteExecute")
    const home = mkdtempSync(join(tmpdir(), "ct-service-"))
    const path = join(home, "ct-agent.service")
    writeFileSync(path, unit)
    const { error, status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" })
    rmSync(home, { recursive: true })
    if (error !== undefined) return void process.stderr.write("SKIPPED: no systemd-analyze here to verify the unit\n")
    assert.strictEqual(status, 0, stderr)
    assert.notInclude(stderr, path)
  })

  it("of systemd writes where the agent does, and sees no home but one that it is in", () => {
    const unit = ServiceDefinition.render("systemd", service)
    for (const line of ["ProtectSystem=full", "ProtectHome=yes", 'ReadWritePaths="-/var/lib/ct-agent"'])
      assert.include(unit, `\n${line}\n`)
    const own = ServiceDefinition.render("systemd", { ...service, folder: "/home/pi/shop", writes: ["/home/pi/shop"] })
    for (const line of ["ProtectHome=read-only", 'ReadWritePaths="-/home/pi/shop"']) assert.include(own, `\n${line}\n`)
  })

  it("of launchd is a property list that escapes every word", () => {
    const list = ServiceDefinition.render("launchd", service)
    assert.include(list, "<string>/etc/&#60;x&#62;&#38;y/ct-agent.env</string>")
    assert.include(list, "<key>WorkingDirectory</key>\n  <string>/etc/&#60;x&#62;&#38;y</string>")
    assert.strictEqual(list.split("<string>").length, list.split("</string>").length)
  })
})
