import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { joinToken, makeSurroundings, registered, token } from "@catenet/testing/agent/Surroundings"
import { readFile, stat, writeFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import { startOrigin } from "../harness/Origins.ts"

const bootstrap = "ef".repeat(32)
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

describe("onboarding", () => {
  it("enrolls once: the second start restores the identity, its name and its proof", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_STATE_DIR: `${home.path}/state` }
    for (let start = 0; start < 2; start++) {
      await using agent = runAgent(home, env)
      await registered(agent)
      agent.kill()
      assert.strictEqual(await agent.exited, 0)
    }
    assert.strictEqual(stage.plane.calls.filter((call) => call === "POST /enroll/redeem").length, 1)
    const [first, second] = stage.edge.registrations
    assert.strictEqual(second?.request.agentId, first?.request.agentId)
    assert.deepStrictEqual(second?.request.proof?.publicKey, first?.request.proof?.publicKey)
    assert.isTrue(second?.proven)
    const key = await readFile(`${home.path}/state/identity.key`)
    assert.strictEqual(key.length, 32)
    for (const file of ["identity.key", "agent", "tenant", "events.jsonl"])
      assert.strictEqual(await modeOf(`${home.path}/state/${file}`), 0o600, file)
    assert.strictEqual((await readFile(`${home.path}/state/tenant`)).toString(), "tenant-1")
    assert.match((await readFile(`${home.path}/state/agent`)).toString(), /^agent-\d+-\d+$/)
  })

  it("explains a spent join token by the folder that has no identity", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    stage.plane.joinTokens.set(joinToken, "spent")
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken })
    assert.strictEqual(await agent.exited, 4)
    const said = agent.lines.at(-1) ?? ""
    assert.include(said, "Error: This join token has been redeemed.")
    assert.include(said, "holds no identity")
    assert.include(said, "CT_AGENT_STATE_DIR")
  })

  it("explains a spent join token by the other agent's folder", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken }
    {
      await using first = runAgent(home, { ...env, CT_AGENT_ID: "one" })
      await registered(first)
    }
    await using second = runAgent(home, { ...env, CT_AGENT_ID: "two" })
    assert.strictEqual(await second.exited, 4)
    assert.include(second.lines.at(-1), "belongs to agent one, and CT_AGENT_ID says two. Set CT_AGENT_ID to one")
  })

  it("refuses an unknown join token with 4, and an unreachable control plane with 5", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using unknown = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: "01".repeat(32) })
    assert.strictEqual(await unknown.exited, 4)
    assert.include(unknown.lines.at(-1), "never issued")
    await using elsewhere = runAgent(home, {
      ...stage.env,
      CT_AGENT_JOIN_TOKEN: joinToken,
      CT_AGENT_CP_URL: "http://127.0.0.1:1"
    })
    assert.strictEqual(await elsewhere.exited, 5)
    assert.include(elsewhere.lines.at(-1), "CT_AGENT_CP_URL")
    assert.strictEqual(stage.plane.joinTokens.get(joinToken), "fresh")
  })

  it("takes no longer than CT_AGENT_ONBOARD_TIMEOUT_SECS", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using silent = await startOrigin(() => {})
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_CP_URL: `http://${silent.address}`,
      CT_AGENT_JOIN_TOKEN: joinToken,
      CT_AGENT_ONBOARD_TIMEOUT_SECS: "1"
    })
    assert.strictEqual(await agent.exited, 5)
    assert.include(agent.lines.at(-1), "longer than 1 s (CT_AGENT_ONBOARD_TIMEOUT_SECS)")
  })

  it("redeems a bootstrap token once, stores the secrets, and never requests them again", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    stage.plane.bootstrapTokens.set(bootstrap, `CT_JOIN_TOKEN=${joinToken};CT_AGENT_TOKEN=${token}`)
    const env: Record<string, string> = { ...stage.env, CT_BOOTSTRAP: bootstrap }
    delete env["CT_AGENT_TOKEN"]
    for (let start = 0; start < 2; start++) {
      await using agent = runAgent(home, env)
      await registered(agent)
      assert.notInclude(agent.lines.join("\n"), token)
      assert.notInclude(agent.lines.join("\n"), joinToken)
    }
    assert.strictEqual(stage.plane.calls.filter((call) => call === "POST /bootstrap/redeem").length, 1)
    assert.strictEqual(stage.plane.calls.filter((call) => call === "POST /enroll/redeem").length, 1)
    assert.strictEqual(Buffer.from(stage.edge.registrations[1]?.request.token ?? []).toString("hex"), token)
    const secret = await readFile(`${home.path}/.ct-agent-state/bootstrap.secret`)
    assert.notInclude(secret.toString(), joinToken, "the spent join token is not kept")
    assert.strictEqual(await modeOf(`${home.path}/.ct-agent-state/bootstrap.secret`), 0o600)
  })

  it("does not send a malformed bootstrap token", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const { CT_AGENT_TOKEN: _, ...env } = stage.env
    await using agent = runAgent(home, { ...env, CT_BOOTSTRAP: "boot" })
    assert.strictEqual(await agent.exited, 3)
    assert.include(agent.lines.at(-1), "CT_BOOTSTRAP is not a bootstrap token")
    assert.deepStrictEqual(stage.plane.calls, [])
  })

  it("does not spend a bootstrap token when both tokens are set", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    stage.plane.bootstrapTokens.set(bootstrap, "untouched")
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_BOOTSTRAP: bootstrap })
    await registered(agent)
    assert.strictEqual(stage.plane.bootstrapTokens.get(bootstrap), "untouched")
  })

  it("refuses a damaged identity with the remedy", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_STATE_DIR: home.path }
    await writeFile(`${home.path}/identity.key`, "short")
    await using agent = runAgent(home, env)
    assert.strictEqual(await agent.exited, 3)
    assert.include(agent.lines.at(-1), "start with a fresh join token")
    assert.strictEqual(stage.plane.joinTokens.get(joinToken), "fresh")
  })

  it("spends no token where the state folder cannot be written, and leaves no partial file", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    stage.plane.bootstrapTokens.set(bootstrap, `CT_JOIN_TOKEN=${joinToken};CT_AGENT_TOKEN=${token}`)
    const { CT_AGENT_TOKEN: _, ...rest } = stage.env
    for (const env of [
      { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken },
      { ...rest, CT_BOOTSTRAP: bootstrap }
    ]) {
      await using agent = runAgent(home, { ...env, CT_AGENT_ID: "one" }, [], "", "-f 0")
      assert.strictEqual(await agent.exited, 3)
      assert.include(agent.lines.at(-1), "EFBIG: file too large. Raise the limit of this process (ulimit -f).")
    }
    assert.deepStrictEqual(stage.plane.calls, [])
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken })
    await registered(agent)
  })

  it("completes the enrollment after a kill during the control plane's answer", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken }
    {
      await using killed = runAgent(home, env)
      stage.plane.redeemed = () => killed.kill("SIGKILL")
      assert.strictEqual(await killed.exited, 137)
    }
    assert.strictEqual(stage.plane.joinTokens.get(joinToken), "spent")
    await using agent = runAgent(home, env)
    await agent.said("an earlier start had enrolled this agent")
    await registered(agent)
    assert.isTrue(stage.edge.registrations.at(-1)?.proven)
  })

  it("finishes an enrollment that was killed between its renames", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_STATE_DIR: home.path, CT_AGENT_ID: "one" }
    await writeFile(`${home.path}/identity.key`, Buffer.alloc(32, 7))
    await writeFile(`${home.path}/agent`, "one")
    await writeFile(`${home.path}/tenant.new`, "tenant-9")
    await using agent = runAgent(home, env)
    await agent.said("tenant=tenant-9")
    await registered(agent)
    assert.strictEqual(stage.plane.joinTokens.get(joinToken), "fresh")
  })

  it("looks for the root on disk often, and requests it from the control plane rarely", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    stage.plane.ca = Uint8Array.of(0)
    const env = { ...stage.env, CT_AGENT_EDGE_CERT: `${home.path}/ca.der`, CT_AGENT_EDGE_CERT_WAIT_SECS: "2" }
    await using agent = runAgent(home, env)
    assert.strictEqual(await agent.exited, 5)
    assert.strictEqual(stage.plane.calls.filter((call) => call === "GET /pki/ca").length, 1)
  })

  it("waits for the root certificate file no longer than CT_AGENT_EDGE_CERT_WAIT_SECS", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_CP_URL: "http://127.0.0.1:1",
      CT_AGENT_EDGE: `127.0.0.1:${stage.edge.port}`,
      CT_AGENT_EDGE_CERT: `${home.path}/ca.der`,
      CT_AGENT_EDGE_CERT_WAIT_SECS: "1"
    })
    const waiting = await agent.said("waiting for the edge's root certificate")
    assert.include(waiting, "The control plane at http://127.0.0.1:1 cannot give the edge's root certificate")
    assert.include(waiting, "Check CT_AGENT_CP_URL")
    assert.strictEqual(await agent.exited, 5)
    assert.include(agent.lines.at(-1), "within 1 s (CT_AGENT_EDGE_CERT_WAIT_SECS)")
    assert.include(agent.lines.at(-1), `${home.path}/ca.der`)
    await using later = runAgent(home, {
      ...stage.env,
      CT_AGENT_CP_URL: "http://127.0.0.1:1",
      CT_AGENT_EDGE: `127.0.0.1:${stage.edge.port}`,
      CT_AGENT_EDGE_CERT: `${home.path}/ca.der`
    })
    await later.said("waiting for the edge's root certificate")
    await writeFile(`${home.path}/ca.der`, stage.authority.der)
    await registered(later)
  })

  it("starts again without the control plane, from its cached connection info", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    {
      await using first = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken })
      await registered(first)
    }
    await stage.plane[Symbol.asyncDispose]()
    await using second = runAgent(home, stage.env)
    await second.said(`Trying port ${stage.edge.port}`)
    await registered(second)
    assert.isTrue(stage.edge.registrations.at(-1)?.proven)
  })

  it("caches the fetched root and serves with the copy when the control plane is away", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const env = {
      ...stage.env,
      CT_AGENT_EDGE: `127.0.0.1:${stage.edge.port}`,
      CT_AGENT_EDGE_CERT: `${home.path}/cache/ca.der`,
      CT_AGENT_EDGE_CERT_URL: stage.plane.url
    }
    {
      await using first = runAgent(home, env)
      await registered(first)
    }
    assert.deepStrictEqual(new Uint8Array(await readFile(`${home.path}/cache/ca.der`)), stage.authority.der)
    await using second = runAgent(home, { ...env, CT_AGENT_EDGE_CERT_URL: "http://127.0.0.1:1" })
    await second.said("Using the copy at")
    await registered(second)
  })
})
