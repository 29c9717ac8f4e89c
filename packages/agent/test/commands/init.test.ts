import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { readFile, stat } from "node:fs/promises"
import { assert, describe, it } from "vitest"

const token = "ab".repeat(32)
const lines = (...answers: ReadonlyArray<string>) => answers.map((answer) => `${answer}\n`).join("")

describe("init", () => {
  it("writes a private file of the answers, which the program then reads", async () => {
    await using home = await makeHome()
    const answers = lines("https://portal.example.org", "hello.example.org", "", "", "", token)
    await using init = runAgent(home, {}, ["init"], answers)
    assert.strictEqual(await init.exited, 0, init.lines.join("\n"))
    assert.strictEqual(init.stdout(), "./ct-agent.env\n")
    const path = `${home.path}/ct-agent.env`
    assert.strictEqual((await stat(path)).mode & 0o777, 0o600)
    assert.strictEqual(
      await readFile(path, "utf8"),
      lines(
        "CT_AGENT_CP_URL=https://portal.example.org",
        "CT_AGENT_HOSTNAME=hello.example.org",
        "CT_AGENT_MODE=browser",
        `CT_AGENT_TOKEN=${token}`
      )
    )
    assert.notInclude(init.lines.join("\n"), token)
    await using again = runAgent(home, {}, ["init"], lines("n"))
    assert.strictEqual(await again.exited, 3)
    assert.include(await readFile(path, "utf8"), token)
  })

  it("refuses a bad answer by its variable, and answers that end too early, and writes nothing", async () => {
    await using home = await makeHome()
    await using bad = runAgent(home, {}, ["init"], lines("portal.example.org"))
    assert.strictEqual(await bad.exited, 3)
    assert.include(bad.lines.at(-1), "CT_AGENT_CP_URL is not an http or https address")
    await using short = runAgent(home, {}, ["init"], lines("https://portal.example.org", "hello.example.org"))
    assert.strictEqual(await short.exited, 3)
    assert.include(short.lines.at(-1), "Nothing was written")
    await using mesh = runAgent(home, {}, ["init"], lines("http://127.0.0.1:8090", "", "", "", "", ""))
    assert.strictEqual(await mesh.exited, 0, mesh.lines.join("\n"))
    assert.strictEqual(await readFile(`${home.path}/ct-agent.env`, "utf8"), "CT_AGENT_CP_URL=http://127.0.0.1:8090\n")
    await using browser = runAgent(home, {}, ["init"], lines("y", "http://127.0.0.1:8090", "a.example", "", "", "", ""))
    assert.strictEqual(await browser.exited, 3)
    assert.include(browser.lines.at(-1), "CT_AGENT_TOKEN is not set")
    await using other = runAgent(
      home,
      {},
      ["init", "--config", "mine.env"],
      lines("http://127.0.0.1:8090", "", "", "boot")
    )
    assert.strictEqual(await other.exited, 0)
    assert.strictEqual(
      await readFile(`${home.path}/mine.env`, "utf8"),
      lines("CT_AGENT_CP_URL=http://127.0.0.1:8090", "CT_BOOTSTRAP=boot")
    )
  })
})
