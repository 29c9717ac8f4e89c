import { eventually } from "@catenet/testing/Eventually"
import * as Collector from "@catenet/testing/platform/Collector"
import { catenet, freePorts, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

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

  it("says which variable moves a port that is taken, and ends with 3", async () => {
    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const { port } = taken.address() as AddressInfo
    const { code, stderr } = await catenet(["serve"], {
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
      CT_CP_DATABASE_URL: database(),
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32)
    }).ended
    taken.close()
    assert.strictEqual(code, 3, stderr)
    assert.match(
      stderr,
      /^Error: 127\.0\.0\.1:\d+ cannot be opened \(.*EADDRINUSE.*\); move it with CT_CONTROL_PLANE_LISTEN\.\n$/mu
    )
  })

  it("names the role that the database does not know, after the schema is up to date", async () => {
    const { code, stderr } = await catenet(["migrate"], {
      CT_CP_DATABASE_URL: database(),
      CT_CP_DATABASE_ROLE: "not_there"
    }).ended
    assert.strictEqual(code, 3, stderr)
    assert.match(
      stderr,
      /^Error: CT_CP_DATABASE_ROLE names not_there, which the database does not know; make it .*\.\n$/mu
    )
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
  let collector: Awaited<ReturnType<typeof Collector.start>>
  let serving: Spawned
  let edge: Spawned

  beforeAll(async () => {
    collector = await Collector.start()
    const ports = await freePorts()
    const home = mkdtempSync(join(tmpdir(), "catenet-telemetry-"))
    const telemetry = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=of-the-collector",
      OTEL_BSP_SCHEDULE_DELAY: "200"
    }
    serving = catenet(["serve", "--log-format", "json"], {
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${ports.controlPlane}`,
      CT_CP_DATABASE_URL: database(),
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32),
      ...telemetry,
      OTEL_SERVICE_NAME: "control-plane-under-test"
    })
    const ready = () =>
      fetch(`http://127.0.0.1:${ports.controlPlane}/readyz`).then(
        ({ status }) => status === 200,
        () => false
      )
    await eventually(ready, "the control plane", 120_000)
    edge = catenet(["edge", "--log-format", "json"], {
      CT_EDGE_LISTEN: `127.0.0.1:${ports.mesh}`,
      CT_FRONT_DOOR: `127.0.0.1:${ports.frontDoor}`,
      CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${ports.edgeAdmin}`,
      CT_EDGE_METRICS_LISTEN: `127.0.0.1:${ports.edgeMetrics}`,
      CT_EDGE_ADMIN_TOKEN: "ad".repeat(32),
      CT_EDGE_CP_URL: `http://127.0.0.1:${ports.controlPlane}`,
      CT_EDGE_CERT_OUT: join(home, "root.pem"),
      ...telemetry
    })
  })
  afterAll(async () => {
    await Promise.all([serving.stop(), edge.stop()])
    collector.close()
  })

  it.each(["control-plane-under-test", "catenet-edge"])("of %s is taken by the official protobufs", async (service) => {
    const of = (signal: string) => collector.taken.filter((each) => each.service === service && each.signal === signal)
    await eventually(() => of("traces").length > 0 && of("logs").length > 0, `traces and logs of ${service}`)
    for (const { headers } of [...of("traces"), ...of("logs")]) {
      assert.strictEqual(headers["api-key"], "of-the-collector")
      assert.strictEqual(headers["content-type"], "application/x-protobuf")
    }
    assert.deepStrictEqual(collector.refused, [])
  })

  it("writes one JSON line an event", () => {
    for (const line of serving.stderr
      .concat(edge.stderr)
      .split("\n")
      .filter((text) => text !== ""))
      assert.hasAnyKeys(JSON.parse(line), ["message"])
  })
})
