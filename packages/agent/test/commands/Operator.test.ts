/** The commands of operators, as scripts read them: expected lines are put together from the published vectors, not by this program. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { createPrivateKey, sign } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"

interface Vector {
  readonly id: string
  readonly input: Readonly<Record<string, string>>
  readonly expect: Readonly<Record<string, string>>
}

const vector = (file: string, id: string): Vector => {
  const path = new URL(`../../../crypto/test/vectors/${file}.json`, import.meta.url)
  const { vectors } = JSON.parse(readFileSync(path, "utf8")) as { vectors: ReadonlyArray<Vector> }
  return vectors.find((each) => each.id === id) ?? assert.fail(`no vector ${id}`)
}

const grant = vector("grant", "pair-member-a")
const link = vector("channel-ids", "link-real-keys")
const role = vector("channel-ids", "role-physics")
const binding = vector("topology-binding", "signed")
const seed = "41".repeat(32)
const holder = link.input["holder_a"] ?? ""
const noise = "aa".repeat(32)

/** Ed25519 by the runtime alone, over the bytes that the facts give. */
const attestation = (channel: string) => {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, "hex")
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })
  const word = Buffer.from("ct-a2a-noise-attest-v1").toString("hex")
  return sign(null, Buffer.from(`16000000${word}${channel}${holder}${noise}`, "hex"), key).toString("hex")
}

const run = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, input = "") => {
  await using home = await makeHome()
  await using agent = runAgent(home, env, ["channel", ...args], input)
  const code = await agent.exited
  return { code, stdout: agent.stdout(), stderr: agent.lines.join("\n") }
}

const material = { CT_CHANNEL_HOLDER_KEY: seed, CT_CHANNEL_NOISE_PUBKEY: noise }
const granting = {
  CT_CHANNEL_OPERATOR_KEY: grant.input["operator_seed"] ?? "",
  CT_GRANT_CHANNEL: grant.input["channel"] ?? "",
  CT_GRANT_MEMBER_HOLDER: grant.input["holder"] ?? "",
  CT_GRANT_DIRECTION: "both",
  CT_GRANT_EXPIRES: grant.input["expires_at"] ?? ""
}

describe.concurrent("a command of operators prints byte for byte", () => {
  it("the material of a member of a link", async () => {
    const env = {
      ...material,
      CT_CHANNEL_OPERATOR_PUBKEY: link.input["operator_pubkey"] ?? "",
      CT_CHANNEL_BRIDGE_HOLDER: link.input["holder_b"] ?? ""
    }
    const channel = link.expect["channel"] ?? ""
    const { code, stderr, stdout } = await run(["member-material"], env)
    assert.strictEqual(
      stdout,
      `holder_pubkey     = ${holder}\nnoise_pubkey      = ${noise}\nchannel_id        = ${channel}\n` +
        `noise_attestation = ${attestation(channel)}\n`
    )
    assert.deepStrictEqual([code, stderr], [0, ""])
    const own = await run(["member-material"], { ...env, CT_CHANNEL_BRIDGE_HOLDER: holder })
    assert.strictEqual(own.code, 3)
  })

  it("that of a role of a pipeline, whose operator is read at the control plane when it is not set", async () => {
    const { operator_pubkey: operator, pipeline_id: id = "", role: tag = "" } = role.input
    const channel = role.expect["channel"] ?? ""
    const wanted =
      `pipeline_id       = ${id}\nrole              = ${tag}\nholder_pubkey     = ${holder}\nnoise_pubkey      = ${noise}\n` +
      `channel_id        = ${channel}\nnoise_attestation = ${attestation(channel)}\n`
    const env = { ...material, CT_PIPELINE_ID: id, CT_PIPELINE_ROLE: tag }
    const published: { operator: string | null } = { operator: operator ?? null }
    const server = createServer((request, response) => {
      response.statusCode = request.url === `/registry/pipelines/${id}` ? 200 : 404
      response.end(JSON.stringify({ operator_pubkey_hex: published.operator }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const at = { CT_AGENT_CP_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    const [named, found, nowhere] = await Promise.all([
      run(["join-pipeline-role"], { ...env, CT_CHANNEL_OPERATOR_PUBKEY: operator ?? "" }),
      run(["join-pipeline-role"], { ...env, ...at }),
      run(["join-pipeline-role"], env)
    ])
    assert.deepStrictEqual([named.stdout, found.stdout, nowhere.stdout], [wanted, wanted, ""])
    assert.deepStrictEqual([named.code, found.code, nowhere.code], [0, 0, 3])
    published.operator = null
    const silent = await run(["join-pipeline-role"], { ...env, ...at })
    assert.strictEqual(silent.code, 4)
    assert.include(silent.stderr, "names no operator key")
    server.close()
  })

  it("an operator's proof for a topology", async () => {
    const env = {
      CT_CHANNEL_OPERATOR_KEY: binding.input["operator_seed"] ?? "",
      CT_TOPOLOGY_ID: binding.input["topology_id"] ?? ""
    }
    const { code, stderr, stdout } = await run(["bind-topology"], env)
    const operator = binding.input["operator_pubkey"] ?? ""
    const proof = binding.expect["proof"] ?? ""
    assert.strictEqual(stdout, `operator_pubkey = ${operator}\nproof           = ${proof}\n`)
    assert.deepStrictEqual([code, stderr], [0, ""])
    const json = await run(["bind-topology", "--json"], env)
    assert.deepStrictEqual(JSON.parse(json.stdout), { operator_pubkey: operator, proof })
  })

  it("a grant of 278 digits from variables and from answers, and none that is over", async () => {
    const [plain, asked, over, misspelt, bad] = await Promise.all([
      run(["grant"], granting),
      run(
        ["grant", "--interactive"],
        { CT_CHANNEL_OPERATOR_KEY: granting.CT_CHANNEL_OPERATOR_KEY },
        `${granting.CT_GRANT_CHANNEL}\n${granting.CT_GRANT_MEMBER_HOLDER}\nboth\n${granting.CT_GRANT_EXPIRES}\n`
      ),
      run(["grant"], { ...granting, CT_GRANT_EXPIRES: "1000" }),
      run(["grant"], { ...granting, CT_GRANT_EXPIRES: "", CT_GRANT_EXPIRES_AT: "1893456000" }),
      run(["grant", "--interactive"], { CT_CHANNEL_OPERATOR_KEY: granting.CT_CHANNEL_OPERATOR_KEY }, "no channel\n")
    ])
    const wanted = `${grant.expect["wire"]}\n`
    assert.strictEqual(wanted.length, 279)
    assert.deepStrictEqual([plain.stdout, asked.stdout], [wanted, wanted], asked.stderr)
    assert.deepStrictEqual([plain.code, asked.code, over.code, misspelt.code, bad.code], [0, 0, 3, 3, 3])
    assert.deepStrictEqual([over.stdout, misspelt.stdout, bad.stdout], ["", "", ""])
    assert.include(over.stderr, "CT_GRANT_EXPIRES is over")
    assert.include(misspelt.stderr, "the end of a grant is CT_GRANT_EXPIRES")
    for (const { stderr } of [plain, asked, over, misspelt, bad])
      assert.notInclude(stderr, granting.CT_CHANNEL_OPERATOR_KEY)
  })

  it("no grant whose end is no time to come, in answers too", async () => {
    const answered = (end: string) =>
      run(
        ["grant", "--interactive"],
        { CT_CHANNEL_OPERATOR_KEY: granting.CT_CHANNEL_OPERATOR_KEY },
        `${granting.CT_GRANT_CHANNEL}\n${granting.CT_GRANT_MEMBER_HOLDER}\nboth\n${end}\n`
      )
    for (const end of ["0d", "1000"]) {
      const { code, stderr, stdout } = await answered(end)
      assert.deepStrictEqual([code, stdout], [3, ""], end)
      assert.include(stderr, "wants a span such as 12h, 30d or 1y, or a time to come in Unix seconds")
    }
    assert.strictEqual((await answered("1d")).code, 0)
  })

  it("no invitation without an identity, which is named", async () => {
    const { code, stderr, stdout } = await run(["invite"], {
      CT_CHANNEL_OPERATOR_KEY: granting.CT_CHANNEL_OPERATOR_KEY,
      CT_INVITE_CHANNEL: granting.CT_GRANT_CHANNEL
    })
    assert.deepStrictEqual([code, stdout], [3, ""])
    assert.include(stderr, "CT_INVITE_IDENTITY is not set")
  })

  it("new keys that a shell reads, into a file of this user alone when one is named, and never over another", async () => {
    await using home = await makeHome()
    const init = async (...args: ReadonlyArray<string>) => {
      await using agent = runAgent(home, {}, ["channel", ...args])
      return { code: await agent.exited, stdout: agent.stdout() }
    }
    const member =
      /^(?:#.*\n)*# {3}holder_pubkey = [0-9a-f]{64}\n# {3}noise_pubkey {2}= [0-9a-f]{64}\nexport CT_CHANNEL_HOLDER_KEY=[0-9a-f]{64}\nexport CT_CHANNEL_NOISE_KEY=[0-9a-f]{64}\n(?:#.*\n)*$/
    const operator =
      /^(?:#.*\n)*# {3}operator_pubkey = ([0-9a-f]{64})\nexport CT_CHANNEL_OPERATOR_KEY=([0-9a-f]{64})\n$/
    const [first, second] = [await init("init"), await init("operator-init")]
    assert.match(first.stdout, member)
    assert.match(second.stdout, operator)
    const file = `${home.path}/member.keys`
    assert.deepStrictEqual(await init("init", "--out", file), { code: 0, stdout: `${file}\n` })
    const text = readFileSync(file, "utf8")
    assert.match(text, member)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.deepStrictEqual(await init("init", "--out", file), { code: 3, stdout: "" })
    assert.strictEqual(readFileSync(file, "utf8"), text)
    assert.strictEqual((await init("init", "--out", file, "--force")).code, 0)
    assert.notStrictEqual(readFileSync(file, "utf8"), text)
  })
})
