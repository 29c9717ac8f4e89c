import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { Result } from "effect"
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import * as ClientConfiguration from "../../src/channel/mcp/ClientConfiguration.ts"
import { nameOf } from "../../src/commands/mcpShare.ts"

const entry = { command: "/usr/bin/node", args: ["/opt/ct-agent", "--config", 'a "b"\\c.env'] }
const added = (text: string, client: ClientConfiguration.ClientName = "claude", name = "peer") =>
  ClientConfiguration.added(text, client, name, entry)
const written = (text: string, client?: ClientConfiguration.ClientName) => Result.getOrThrow(added(text, client))
const withoutComments = (text: string) => JSON.parse(text.replaceAll(/\/\/.*$|\/\*[^]*?\*\//gmu, ""))

describe("the configuration of an MCP client", () => {
  it("gets the entry, and everything else in it stays as it is", () => {
    for (const text of [
      "",
      "{}",
      '{"mcpServers":{}}',
      '{\n  "mcpServers": {\n    "other": { "command": "x" }\n  },\n  "n": 12345678901234567890\n}\n',
      '{ "a": [{"mcpServers": {"peer": 1}}], "b": "} \\" {" }',
      '// mine\n{\n  /* { */ "theme": "dark" // "mcpServers": {\n}\n'
    ]) {
      const after = written(text)
      assert.deepStrictEqual(withoutComments(after).mcpServers.peer, entry)
      const before = text === "" ? {} : withoutComments(text)
      const { peer, ...others } = withoutComments(after).mcpServers
      assert.isDefined(peer)
      assert.deepStrictEqual(
        { ...withoutComments(after), mcpServers: others },
        { ...before, mcpServers: before.mcpServers ?? {} }
      )
      // Only something was put in.
      for (let at = 0, from = 0; at < text.length; at++) {
        from = after.indexOf(text[at] ?? "", from) + 1
        assert.notStrictEqual(from, 0, text)
      }
    }
  })

  it("names the servers as its client does", () => {
    assert.deepStrictEqual(JSON.parse(written("{}", "vscode")).servers.peer, { type: "stdio", ...entry })
    assert.strictEqual(
      written('model = "m"', "codex"),
      'model = "m"\n\n[mcp_servers.peer]\ncommand = "/usr/bin/node"\nargs = ["/opt/ct-agent","--config","a \\"b\\"\\\\c.env"]\n'
    )
  })

  it("is refused if it has the name already, or is not what its client reads", () => {
    const refusals: ReadonlyArray<readonly [string, ClientConfiguration.ClientName, string]> = [
      ['{"mcpServers":{"peer":{}}}', "claude", "an entry peer already"],
      ['{"mcpServers":[]}', "cursor", "not a JSON object"],
      ["[]", "claude", "not a JSON object"],
      ["{", "claude", "not a JSON object"],
      ['{"a":1}}', "claude", "not a JSON object"],
      ["{} {}", "claude", "not a JSON object"],
      ['{"a', "vscode", "not a JSON object"],
      ['[mcp_servers."peer"]\n', "codex", "an entry peer already"],
      ["[mcp_servers.peer.env]\n", "codex", "an entry peer already"],
      ["mcp_servers = {}\n", "codex", "not tables"]
    ]
    for (const [text, client, why] of refusals)
      assert.include(Result.getOrThrow(Result.flip(added(text, client))).message, why, text)
  })

  it("of a user is in the usual place of the system", () => {
    const at = ClientConfiguration.pathOf
    assert.strictEqual(at("claude", "/h", "linux"), "/h/.claude.json")
    assert.strictEqual(at("cursor", "/h", "linux"), "/h/.cursor/mcp.json")
    assert.strictEqual(at("codex", "/h", "linux"), "/h/.codex/config.toml")
    assert.strictEqual(at("vscode", "/h", "linux"), "/h/.config/Code/User/mcp.json")
    assert.strictEqual(at("vscode", "/h", "darwin"), "/h/Library/Application Support/Code/User/mcp.json")
  })
})

describe("the name of a share", () => {
  it("is that of the program which its command runs", () => {
    for (const [command, name] of [
      ["npx -y @scope/server-files@1.2.0 /data", "server-files"],
      ["npx --yes server@latest", "server"],
      ["uvx mcp-server-git", "mcp-server-git"],
      ["/usr/bin/node --no-warnings /opt/tools.d/server.mjs", "server"],
      ["./my.server", "my-server"],
      ["npx", "npx"],
      ["@", "mcp"]
    ] as const)
      assert.strictEqual(nameOf(command.split(" ")), name, command)
  })
})

describe("mcp add", () => {
  it("asks, keeps the file as it was and its mode, and writes the entry of the channel", async () => {
    await using home = await makeHome()
    await writeFile(`${home.path}/0123456789abcdef.env`, "")
    await mkdir(`${home.path}/.cursor`)
    const path = `${home.path}/.cursor/mcp.json`
    await writeFile(path, '{"mcpServers":{}}')
    await chmod(path, 0o644)
    const args = ["mcp", "add", "cursor", "--config", "0123456789abcdef.env"]
    await using no = runAgent(home, {}, args, "n\n")
    assert.strictEqual(await no.exited, 3)
    assert.include(no.lines.join("\n"), '"catenet-01234567"')
    assert.strictEqual(await readFile(path, "utf8"), '{"mcpServers":{}}')
    await using yes = runAgent(home, {}, args, "y\n")
    assert.strictEqual(await yes.exited, 0, yes.lines.join("\n"))
    assert.strictEqual(yes.stdout(), `${path}\n`)
    const { mcpServers } = JSON.parse(await readFile(path, "utf8"))
    const { args: given } = mcpServers["catenet-01234567"]
    assert.deepStrictEqual(given.slice(-4), ["channel", "mcp", "--config", `${home.path}/0123456789abcdef.env`])
    assert.strictEqual(await readFile(`${path}.catenet-bak`, "utf8"), '{"mcpServers":{}}')
    assert.strictEqual((await stat(path)).mode & 0o777, 0o644)
    await using again = runAgent(home, {}, [...args, "--yes"])
    assert.strictEqual(await again.exited, 3)
    assert.include(again.lines.join("\n"), "it has an entry catenet-01234567 already. Nothing was written.")
  })

  it("creates a private file where there is none, and refuses what it does not know", async () => {
    await using home = await makeHome()
    await writeFile(`${home.path}/peer.env`, "")
    const args = ["mcp", "add", "codex", "--yes"]
    await using done = runAgent(home, {}, [...args, "--config", "peer.env"])
    assert.strictEqual(await done.exited, 0, done.lines.join("\n"))
    assert.include(await readFile(`${home.path}/.codex/config.toml`, "utf8"), "[mcp_servers.peer]\n")
    await using gateway = runAgent(home, {}, [...args, "--gateway"])
    assert.strictEqual(await gateway.exited, 0, gateway.lines.join("\n"))
    assert.match(
      await readFile(`${home.path}/.codex/config.toml`, "utf8"),
      /\[mcp_servers\.catenet\]\ncommand = .*\nargs = .*"mcp","gateway"\]\n/u
    )
    assert.strictEqual((await stat(`${home.path}/.codex/config.toml`)).mode & 0o777, 0o600)
    for (const [wrong, code, why] of [
      [args, 2, "--config is missing"],
      [[...args, "--config", "none.env"], 3, "none.env does not exist"],
      [[...args, "--config", "peer.env", "--name", "a b"], 2, "--name takes"],
      [["mcp", "add", "emacs", "--config", "peer.env"], 2, "claude (Claude Code), cursor, vscode or codex"]
    ] as const) {
      await using refused = runAgent(home, {}, wrong)
      assert.strictEqual(await refused.exited, code, why)
      assert.include(refused.lines.join("\n"), why)
    }
  })
})
