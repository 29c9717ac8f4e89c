import { assert, describe, it } from "vitest"
import * as ServiceDefinition from "../../src/service/ServiceDefinition.ts"

const service = {
  what: "shop.example",
  command: ["/opt/node bin/node", '/a "b"\\c/100%$HOME.js', "--config", "/etc/<x>&y/ct-agent.env"],
  folder: "/etc/<x>&y",
  user: "pi"
}

describe("a service definition", () => {
  it("of systemd takes every word literally, and is not started again where a person must act", () => {
    const unit = ServiceDefinition.render("systemd", service)
    assert.include(
      unit,
      '\nExecStart="/opt/node bin/node" "/a \\"b\\"\\\\c/100%%$$HOME.js" "--config" "/etc/<x>&y/ct-agent.env"\n'
    )
    for (const line of ["Restart=always", "RestartPreventExitStatus=2 3 4", "User=pi", "WorkingDirectory=/etc/<x>&y"])
      assert.include(unit, `\n${line}\n`)
  })

  it("of launchd is a property list in which no word is markup", () => {
    const list = ServiceDefinition.render("launchd", service)
    assert.include(list, "<string>/etc/&lt;x&gt;&amp;y/ct-agent.env</string>")
    assert.include(list, "<key>WorkingDirectory</key>\n  <string>/etc/&lt;x&gt;&amp;y</string>")
    assert.strictEqual(list.split("<string>").length, list.split("</string>").length)
  })
})
