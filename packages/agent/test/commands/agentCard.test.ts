/** `channel agent-card`: the file as agent.md 10.1 has it, one that is an A2A card too, and what `--verify` says of good and bad ones. */
import * as A2aCard from "@catenet/crypto/A2aCard"
import * as AgentCard from "@catenet/crypto/AgentCard"
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { Redacted, Result } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const seed = "1f".repeat(32)
const bytes = (hex: string) => Result.getOrThrow(Hex.decode(hex))
const holder = Hex.encode(native.ed25519.publicKey(bytes(seed)))
const env = {
  CT_CHANNEL_HOLDER_KEY: seed,
  CT_AGENT_CARD_ROLES: "translator,writer",
  CT_AGENT_CARD_SKILLS: "translate|Translates a text;summarize",
  CT_AGENT_CARD_CELLS: "c1".repeat(32),
  CT_AGENT_CARD_CHANNELS: "c2".repeat(32)
}
const card = ["channel", "agent-card"]
const well = ".well-known/agent-card.json"

const written = async (path: string, more: Readonly<Record<string, string>> = {}, args: ReadonlyArray<string> = []) => {
  await using agent = runAgent({ path } as never, { ...env, ...more }, [...card, ...args])
  assert.strictEqual(await agent.exited, 0, agent.lines.join("\n"))
  return { stdout: agent.stdout(), said: agent.lines.join("\n"), text: readFileSync(join(path, well), "utf8") }
}

const verified = async (path: string, file: string) => {
  await using agent = runAgent({ path } as never, {}, [...card, "--verify", file])
  return { code: await agent.exited, stdout: agent.stdout(), said: agent.lines.join("\n") }
}

describe.concurrent("channel agent-card", () => {
  it("writes the contract's card, prints its path, and verifies it", async () => {
    await using home = await makeHome()
    const { said, stdout, text } = await written(home.path)
    assert.strictEqual(stdout, `./${well}\n`)
    assert.include(said, "The card is not registered.")
    assert.match(
      text,
      new RegExp(
        `^\\{"holder_pubkey":"${holder}","role_tags":\\["translator","writer"\\],"skills":\\[\\{"id":"translate",` +
          `"description":"Translates a text","examples":\\[\\]\\},\\{"id":"summarize","description":"","examples":\\[\\]\\}\\],` +
          `"cells":\\["${env.CT_AGENT_CARD_CELLS}"\\],"channels":\\["${env.CT_AGENT_CARD_CHANNELS}"\\],` +
          `"issued_at":\\d+,"expires_at":\\d+,"signature":"[0-9a-f]{128}"\\}$`,
        "u"
      )
    )
    const { expires_at, issued_at } = JSON.parse(text)
    assert.strictEqual(expires_at - issued_at, 86_400)
    assert.deepStrictEqual(await verified(home.path, well), {
      code: 0,
      stdout: `valid  holder=${holder}  role_tags=["translator", "writer"]  expires_at=${expires_at}\n`,
      said: ""
    })
    assert.deepStrictEqual(readdirSync(join(home.path, ".well-known")), ["agent-card.json"])
  })

  it("writes one file that is both cards", async () => {
    await using home = await makeHome()
    const { text } = await written(home.path, { CT_AGENT_CARD_URL: `https://agent.example/${well}` }, ["--a2a"])
    const plain = await written(home.path)
    assert.deepStrictEqual(
      Object.keys(JSON.parse(text)).slice(0, 8),
      Object.keys(JSON.parse(plain.text)),
      "the contract's keys come first"
    )
    const both = Result.getOrThrow(AgentCard.json.parse(text))
    assert.isTrue(AgentCard.verify(native, both, Number(both.issuedAt)))
    const { capabilities, defaultInputModes, description, name, skills, supportedInterfaces, version } =
      JSON.parse(text)
    assert.deepStrictEqual([name, description, version], ["translator", "An agent for translator, writer.", "1.0.0"])
    assert.deepStrictEqual(supportedInterfaces, [
      { url: "https://agent.example/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }
    ])
    assert.deepStrictEqual(skills[1], {
      id: "summarize",
      description: "",
      examples: [],
      name: "summarize",
      tags: ["translator", "writer"]
    })
    assert.deepStrictEqual([capabilities.streaming, defaultInputModes], [false, ["text/plain"]])
  })

  it("says which variable is missing or wrong, and writes nothing", async () => {
    await using home = await makeHome()
    for (const [more, args, said] of [
      [{ CT_AGENT_CARD_ROLES: "" }, [], "CT_AGENT_CARD_ROLES is not set"],
      [{ CT_CHANNEL_HOLDER_KEY: "1f" }, [], "CT_CHANNEL_HOLDER_KEY is not a key of 64 hex characters"],
      [{ CT_AGENT_CARD_CELLS: "c1" }, [], "CT_AGENT_CARD_CELLS"],
      [{ CT_AGENT_CARD_TTL_SECS: "day" }, [], "CT_AGENT_CARD_TTL_SECS"],
      [{ CT_AGENT_CARD_URL: "http://a.example/" }, [], "CT_AGENT_CARD_URL"],
      [{}, ["--a2a"], "CT_AGENT_CARD_A2A_URL is not set"]
    ] as const) {
      await using agent = runAgent(home, { ...env, ...more }, [...card, ...args])
      assert.strictEqual(await agent.exited, 3, said)
      assert.include(agent.lines.join("\n"), said)
    }
    assert.notInclude(readdirSync(home.path), ".well-known")
  })

  it("registers with the operator's token by the contract's body, and says why not after writing", async () => {
    await using home = await makeHome()
    const asked: Array<unknown> = []
    let status = 200
    const plane = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => (body += String(chunk)))
      request.on("end", () => {
        asked.push([request.method, request.url, request.headers["x-ct-admin-token"], JSON.parse(body)])
        response.writeHead(status).end()
      })
    }).listen(0, "127.0.0.1")
    await new Promise((resolve) => plane.once("listening", resolve))
    const operator = {
      CT_AGENT_CARD_URL: "https://a.example/card.json",
      CT_AGENT_CP_URL: `http://127.0.0.1:${(plane.address() as AddressInfo).port}`,
      CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32)
    }
    assert.include((await written(home.path, operator)).said, "The card is registered")
    const body = {
      holder_pubkey: holder,
      card_url: "https://a.example/card.json",
      role_tags: ["translator", "writer"],
      skill_ids: ["translate", "summarize"]
    }
    assert.deepStrictEqual(asked, [["POST", "/registry/agents", "ad".repeat(32), body]])
    for (const [answer, code] of [
      [401, 4],
      [503, 5]
    ] as const) {
      status = answer
      await using agent = runAgent(home, { ...env, ...operator, CT_AGENT_CARD_OUT: `${answer}` }, card)
      assert.strictEqual(await agent.exited, code)
      assert.strictEqual(agent.stdout(), `${answer}/${well}\n`)
      assert.include(agent.lines.join("\n"), "The card is written, and")
      assert.notInclude(agent.lines.join("\n"), "adad")
    }
    plane.close()
    const { CT_CP_EDGE_ADMIN_TOKEN: _, ...user } = operator
    assert.include((await written(home.path, user)).said, "Run ct-agent login")
  })

  it("verifies no card that is cut, altered, expired, or none", async () => {
    await using home = await makeHome()
    const { text } = await written(home.path, { CT_AGENT_CARD_A2A_URL: "https://a.example/" }, ["--a2a"])
    const bad = join(home.path, "bad")
    mkdirSync(bad)
    const at = JSON.parse(text).expires_at
    for (const [name, contents, why] of [
      ["cut", text.slice(0, -1), "not JSON"],
      ["empty", "", "not JSON"],
      ["list", "[]", "is no valid card"],
      ["altered", text.replace('"translator"', '"Translator"'), "its signature does not verify"],
      ["expired", text.replace(`"expires_at":${at}`, '"expires_at":1'), "it has expired"],
      ["renamed", text.replace('"name":"translator"', '"name":"other"'), "A2A part"],
      ["long", `${text}${" ".repeat(1_048_576)}`, "longer than 1 MiB"]
    ] as const) {
      writeFileSync(join(bad, name), contents)
      const { code, said, stdout } = await verified(home.path, join(bad, name))
      assert.deepStrictEqual([code, stdout], [1, ""], name)
      assert.include(said, why, name)
    }
    assert.strictEqual((await verified(home.path, join(bad, "absent"))).code, 1)
  })

  it("is refused in every place that a byte of it is changed", () => {
    const secret = Redacted.make(bytes(seed))
    const claims = {
      roleTags: ["a"],
      skills: [{ id: "s", description: "d", examples: ["e"] }],
      cells: [],
      channels: []
    }
    const own = AgentCard.sign(native, secret, { ...claims, issuedAt: 1n, expiresAt: 4_000_000_000n })
    const about = { name: "n", description: "d", version: "1", url: "https://a.example/" }
    const text = A2aCard.write(native, secret, own, about)
    const holds = (mutated: string) => {
      const json = Json.parse(mutated)
      if (Result.isFailure(json)) return false
      const read = AgentCard.json.fromJson(json.success)
      return Result.isSuccess(read) && AgentCard.verify(native, read.success, 2) && A2aCard.holds(native, json.success)
    }
    assert.isTrue(holds(text))
    const rounds = Number(process.env["CATENET_FUZZ"] ?? "1")
    for (let at = 0; at < text.length; at++)
      for (let round = 0; round < rounds; round++) {
        const other = String.fromCharCode(33 + ((text.charCodeAt(at) - 32 + round) % 94))
        const mutated = `${text.slice(0, at)}${other}${text.slice(at + 1)}`
        // A hex digit in upper case is the same digit.
        if (mutated.toLowerCase() !== text.toLowerCase() || !/[0-9a-f]/iu.test(other))
          assert.isFalse(holds(mutated), `${at}: ${mutated.slice(Math.max(0, at - 20), at + 20)}`)
      }
  })
})
