import { createServer, type Server } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { eventually } from "../../../domain/test/Eventually.ts"
import { catenet, freePorts, type Spawned } from "./Stack.ts"

const database = () => process.env["CATENET_TEST_DATABASE_URL"] ?? ""

describe("catenet --help", () => {
  it("names every subcommand, and each explains itself", async () => {
    const { code, stdout } = await catenet(["--help"]).ended
    assert.strictEqual(code, 0)
    for (const name of ["up", "serve", "edge", "migrate"]) {
      assert.match(stdout, new RegExp(`^ {2}${name} +\\S`, "m"))
      const help = await catenet([name, "--help"]).ended
      assert.strictEqual(help.code, 0)
      assert.include(help.stdout, `catenet ${name}`)
      assert.match(help.stdout, /CT_[A-Z_]+/)
    }
  })

  it("answers an unknown subcommand or flag with the usage and exit code 2", async () => {
    for (const args of [["nonsense"], ["up", "--nonsense"]]) {
      const { code, stderr, stdout } = await catenet(args).ended
      assert.strictEqual(code, 2)
      assert.include(stdout + stderr, "USAGE")
    }
  })
})

describe("catenet serve", () => {
  it("says in one sentence which variable is missing, and ends with 3", async () => {
    const { code, stderr } = await catenet(["serve"]).ended
    assert.strictEqual(code, 3)
    assert.match(stderr, /^Error: CT_CP_DATABASE_URL .+\n$/)
  })

  it("wants a key for what it seals in the database", async () => {
    const { code, stderr } = await catenet(["serve"], { CT_CP_DATABASE_URL: database() }).ended
    assert.strictEqual(code, 3)
    assert.match(stderr, /^Error: CT_CP_SEAL_KEY is not set; .+\n$/)
  })

  it("says in one sentence which variable is malformed, and never repeats a secret", async () => {
    const token = "not-a-token-but-secret"
    const { code, stderr } = await catenet(["serve"], {
      CT_CP_DATABASE_URL: database(),
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_TOKEN: token
    }).ended
    assert.strictEqual(code, 3)
    assert.match(stderr, /^Error: CT_CP_EDGE_ADMIN_TOKEN .+\n$/)
    assert.notInclude(stderr, token)
  })

  it("migrates as a step of its own, twice without harm", async () => {
    for (const expected of [/Applied|up to date/, /up to date/]) {
      const { code, stdout } = await catenet(["migrate"], { CT_CP_DATABASE_URL: database() }).ended
      assert.strictEqual(code, 0)
      assert.match(stdout, expected)
    }
  })
})

describe("telemetry", () => {
  const posts: Array<{ path: string; body: string }> = []
  let collector: Server
  let endpoint: string
  let serving: Spawned
  let port: number

  beforeAll(async () => {
    collector = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
      request.on("end", () => {
        posts.push({ path: request.url ?? "", body })
        response.end("{}")
      })
    })
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
    const address = collector.address()
    endpoint = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`
    port = (await freePorts()).controlPlane
    serving = catenet(["serve", "--log-format", "json"], {
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
      CT_CP_DATABASE_URL: database(),
      CT_CP_SEAL_KEY: "5e".repeat(32),
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_SERVICE_NAME: "control-plane-under-test"
    })
    const ready = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status === 200,
        () => false
      )
    await eventually(ready, "the control plane", 120_000)
  })
  afterAll(async () => {
    await serving.stop()
    collector.close()
  })

  it("reaches the collector that OTEL_EXPORTER_OTLP_ENDPOINT names", async () => {
    await eventually(async () => posts.some(({ path }) => path === "/v1/traces"), "a trace")
    assert.isTrue(posts.some(({ body }) => body.includes("control-plane-under-test")))
  })

  it("writes one JSON line an event", () => {
    for (const line of serving.stderr.split("\n").filter((text) => text !== ""))
      assert.hasAnyKeys(JSON.parse(line), ["message"])
  })
})
