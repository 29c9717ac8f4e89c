/** Follows the pages "Start" of control plane, edge and agent, line by line, until a visitor has an answer. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { eventually } from "@catenet/testing/Eventually"
import { type Ended, freePorts, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { Effect } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { copyFileSync, globSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert } from "vitest"
import { freePort } from "../../src/Ports.ts"
import { type Examples, OperatorMachine, startOf } from "./OperatorMachines.ts"

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey

/** A certificate for the zone of the pages, as an operator has one from an authority. */
const placeCertificate = (edge: OperatorMachine) => {
  const [rootKey, key] = [newKey(), newKey()]
  const validity = { from: 0, until: 4e12 }
  const root = Certificate.pem(Certificate.mintRoot("an authority", rootKey, validity))
  const leaf = Certificate.mintLeaf("an authority", rootKey, key, ["*.example.net"], validity)
  writeFileSync(edge.path("etc/catenet/wildcard.pem"), Certificate.pem(leaf))
  writeFileSync(edge.path("etc/catenet/wildcard.key"), key.export({ type: "pkcs8", format: "pem" }))
  return root
}

const ending = async (lines: Spawned): Promise<Ended> => {
  const ended = await lines.ended
  assert.strictEqual(ended.code, 0, ended.stderr)
  return ended
}

const answers = (url: string, status: number) => () =>
  fetch(url).then(
    (response) => response.status === status,
    () => false
  )

/** `built` has the folders of the packages, `database` is empty. */
export const followStartPages = async (built: string, folder: string, database: string): Promise<void> => {
  const [build = "", serving = "", provisioning = ""] = startOf("operations")
  const [edging = "", publishing = ""] = startOf("edge")
  const [serve = ""] = startOf("agent")
  const ports = await freePorts()
  const redirect = await Effect.runPromise(freePort("127.0.0.1"))
  const origin = createServer((_, response) => response.end("the shop")).listen(0, "127.0.0.1")
  await once(origin, "listening")
  const running: Array<Spawned> = []
  const said = () => running.map(({ stderr }) => stderr).join("\n")

  const checkout = new OperatorMachine(join(folder, "checkout"))
  const machines = ["control-plane", "edge"].map((name) => new OperatorMachine(join(folder, name)))
  const [controlPlane, edge] = machines as [OperatorMachine, OperatorMachine]
  const root = placeCertificate(edge)
  const rootFile = join(folder, "root.pem")
  writeFileSync(rootFile, root)
  const agent = new OperatorMachine(join(folder, "agent"), {
    NODE_EXTRA_CA_CERTS: rootFile,
    CT_AGENT_STATE_DIR: join(folder, "agent/state")
  })
  const examples: Examples = [
    ["CT_CONTROL_PLANE_LISTEN=", `CT_CP_MESH_EDGE_PORT=${ports.mesh} CT_CONTROL_PLANE_LISTEN=`],
    ["CT_FRONT_DOOR=", `CT_EDGE_LISTEN=127.0.0.1:${ports.mesh} CT_FRONT_DOOR=`],
    ["postgres://catenet:…@db.internal/catenet", database],
    ["10.0.0.1:8090", `127.0.0.1:${ports.controlPlane}`],
    ["CT_CP_TRUSTED_PROXIES=10.0.0.2", "CT_CP_TRUSTED_PROXIES=127.0.0.1"],
    ["10.0.0.2:9443", `127.0.0.1:${ports.edgeAdmin}`],
    ["0.0.0.0:443", `127.0.0.1:${ports.frontDoor}`],
    ["0.0.0.0:80", `127.0.0.1:${redirect}`],
    ["127.0.0.1:9600", `127.0.0.1:${ports.edgeMetrics}`],
    ["127.0.0.1:3000", `127.0.0.1:${(origin.address() as AddressInfo).port}`],
    ["CP_URL=https://portal.example.net", `CP_URL=https://portal.example.net:${ports.frontDoor}`],
    ["10.0.0.1:/etc", `${controlPlane.folder}/etc`]
  ]
  try {
    // The packages are built already; the lines name them, and pack what is in that folder.
    const [asBuilt, pack = ""] = build.split(/\n(?=npm pack)/u)
    assert.strictEqual(asBuilt, "npm run build -- catenet ct-agent")
    symlinkSync(built, checkout.path("dist"))
    await ending(checkout.run(pack))
    for (const machine of [controlPlane, edge, agent])
      for (const file of globSync("*.tgz", { cwd: checkout.folder }))
        copyFileSync(checkout.path(file), machine.path(file))

    running.push(controlPlane.run(serving, examples))
    const plane = `http://127.0.0.1:${ports.controlPlane}`
    await eventually(answers(`${plane}/readyz`, 200), "the control plane")
    assert.include(await (await fetch(`${plane}/pki/ca`)).text(), "EdgeCaNotPublished")

    running.push(edge.run(edging, examples))
    await eventually(
      answers(`http://127.0.0.1:${ports.edgeMetrics}/healthz`, 200),
      () => `the edge: ${edging}\n${said()}`
    )
    const { stdout } = await ending(controlPlane.run(provisioning, examples))
    const issued = /"routing_token":"(?<routing>\w+)"[\s\S]*"token":"(?<join>\w+)"/u.exec(stdout)?.groups
    await ending(edge.run(publishing, examples))

    mkdirSync(agent.path("state"))
    const tokens: Examples = [
      ["JOIN_TOKEN=…", `JOIN_TOKEN=${issued?.["join"]}`],
      ["AGENT_TOKEN=…", `AGENT_TOKEN=${issued?.["routing"]}`]
    ]
    running.push(agent.run(serve, [...tokens, ...examples]))
    const visit = () => ask({ port: ports.frontDoor, host: "shop.example.net", ca: root }, { timeout: 2000 })
    const isServed = () =>
      visit().then(
        ({ body }) => body.toString() === "the shop",
        () => false
      )
    await eventually(isServed, said, 30_000)
    const everything = running.map((program) => program.stdout + program.stderr).join("\n")
    // The role of the tests' database may do everything; that one is right to be warned of.
    const warnings = everything.split("\n").filter((line) => /\.\.|level=(?:WARN|ERROR)/u.test(line))
    assert.deepStrictEqual(
      warnings.filter((line) => !line.includes("is a superuser")),
      []
    )
  } finally {
    await Promise.all(running.reverse().map((program) => program.stop()))
    origin.close()
  }
}
