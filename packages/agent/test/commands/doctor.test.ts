import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { joinToken, makeSurroundings } from "@catenet/testing/agent/Surroundings"
import { writeFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import { echo, startOrigin } from "../harness/Origins.ts"
import { noQuic, startQuicEdge } from "../harness/QuicEdge.ts"

interface Finding {
  readonly check: string
  readonly outcome: string
  readonly detail: string
}

const findings = (stdout: string): Readonly<Record<string, Finding>> =>
  Object.fromEntries(
    (JSON.parse(stdout) as { readonly findings: ReadonlyArray<Finding> }).findings.map((each) => [each.check, each])
  )

describe("doctor", () => {
  it("finds nothing wrong, serves no visitor and redeems no token", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_ORIGIN: origin.address }
    await using doctor = runAgent(home, env, ["doctor", "--json"])
    assert.strictEqual(await doctor.exited, 0, doctor.lines.join("\n"))
    const found = findings(doctor.stdout())
    assert.isTrue(Object.values(found).every(({ outcome }) => outcome !== "failed"))
    assert.strictEqual(found["token"]?.detail, "accepted for hello.example")
    assert.include(found["edge TLS"]?.detail, "multiplexed")
    assert.strictEqual(found["edge QUIC"]?.detail, "not wanted by CT_AGENT_TRANSPORTS")
    assert.strictEqual(found["certificate"]?.outcome, "skipped")
    assert.include(found["host name"]?.detail, "hello.example does not resolve on this machine")
    assert.strictEqual(stage.plane.joinTokens.get(joinToken), "fresh")
    await using plain = runAgent(home, env, ["doctor"])
    assert.strictEqual(await plain.exited, 0)
    assert.match(plain.stdout(), /^ok +origin +127\.0\.0\.1:\d+ accepts connections$/m)
  })

  it.skipIf(noQuic)("says whether the edge answers by QUIC, and fails only where nothing else is wanted", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ORIGIN: origin.address }
    const run = async (transports: string) => {
      await using doctor = runAgent(home, { ...env, CT_AGENT_TRANSPORTS: transports }, ["doctor", "--json"])
      return { code: await doctor.exited, quic: findings(doctor.stdout())["edge QUIC"] }
    }
    const [spare, needed] = await Promise.all([run(""), run("quic")])
    assert.deepInclude(spare, { code: 0 })
    assert.match(spare.quic?.detail ?? "", /by QUIC: no connection within 5 s\. TLS is used instead\.$/)
    assert.deepInclude(needed, { code: 5 })
    assert.match(needed.quic?.detail ?? "", /Open the UDP port in the firewall, or unset CT_AGENT_TRANSPORTS\.$/)
    await using edge = await startQuicEdge(stage.leaf, stage.edge.port)
    const answered = await run("quic")
    assert.match(answered.quic?.detail ?? "", /^answers; it sees this machine at 127\.0\.0\.1:\d+$/)
    assert.deepStrictEqual(edge.roles, ["W"])
  })

  it("checks the names and the validity of the certificate that visitors will see", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const run = async (host: string) => {
      const { cert, key } = stage.authority.leaf(host)
      await writeFile(`${home.path}/chain.pem`, cert)
      await writeFile(`${home.path}/key.pem`, key)
      const terminate = {
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_AGENT_TLS_CERT: "chain.pem",
        CT_AGENT_TLS_KEY: "key.pem"
      }
      await using doctor = runAgent(home, { ...stage.env, ...terminate, CT_AGENT_ORIGIN: origin.address }, [
        "doctor",
        "--json"
      ])
      return { code: await doctor.exited, certificate: findings(doctor.stdout())["certificate"] }
    }
    const good = await run("hello.example")
    assert.strictEqual(good.code, 0)
    assert.match(
      good.certificate?.detail ?? "",
      /^CT_AGENT_TLS_CERT: chain\.pem is valid until .* days from now; renew it soon$/
    )
    const other = await run("other.example")
    assert.strictEqual(other.code, 3)
    assert.include(other.certificate?.detail, "is for other.example, not for hello.example; browsers refuse it.")
    const awaited = { CT_AGENT_ORIGIN_TLS: "terminate", CT_ACME_CERT_OUT_DIR: "later" }
    await using before = runAgent(home, { ...stage.env, ...awaited, CT_AGENT_ORIGIN: origin.address }, [
      "doctor",
      "--json"
    ])
    assert.strictEqual(await before.exited, 0)
    assert.include(findings(before.stdout())["certificate"]?.detail, "right before the first issuance")
    assert.include(findings(before.stdout())["certificate authority"]?.detail, "the control plane assigns one")
    const own = { ...awaited, CT_ACME_DIRECTORY_URL: "https://127.0.0.1:1/directory" }
    await using alone = runAgent(home, { ...stage.env, ...own, CT_AGENT_ORIGIN: origin.address }, ["doctor", "--json"])
    assert.strictEqual(await alone.exited, 5)
    assert.match(
      findings(alone.stdout())["certificate authority"]?.detail ?? "",
      /^127\.0\.0\.1:1 cannot be reached: .* Check CT_ACME_DIRECTORY_URL and CT_ACME_CA_FILE\.$/
    )
  })

  it("names each failure and its remedy, and ends with the exit code of the first one", async () => {
    await using stage = await makeSurroundings({ refuse: { code: "host-not-authorized", sentence: "no such host" } })
    await using home = await makeHome()
    await using doctor = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: "127.0.0.1:1" }, ["doctor", "--json"])
    assert.strictEqual(await doctor.exited, 4)
    const found = findings(doctor.stdout())
    assert.include(found["token"]?.detail, "check CT_AGENT_HOSTNAME and CT_AGENT_TOKEN")
    assert.include(found["origin"]?.detail, "CT_AGENT_ORIGIN")
    assert.include(found["certificate"]?.detail, "the origin does not answer")
    assert.strictEqual(found["edge port"]?.outcome, "ok")
    await using away = runAgent(home, { ...stage.env, CT_AGENT_CP_URL: "http://127.0.0.1:1" }, ["doctor", "--json"])
    assert.strictEqual(await away.exited, 5)
    assert.strictEqual(findings(away.stdout())["control plane port"]?.outcome, "failed")
    await using nothing = runAgent(home, {}, ["doctor"])
    assert.strictEqual(await nothing.exited, 3)
  })
})
