/** The programs of examples/ together: an embedded control plane, an embedded edge, and a program that serves itself. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { eventually } from "@catenet/testing/Eventually"
import { freePorts, Spawned } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { generateKeyPairSync, randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey

/** A wildcard certificate of the zone; gives its root. */
const placeCertificate = (folder: string) => {
  const [rootKey, key] = [newKey(), newKey()]
  const validity = { from: 0, until: 4e12 }
  const leaf = Certificate.mintLeaf("an authority", rootKey, key, ["*.example.net"], validity)
  writeFileSync(join(folder, "wildcard.pem"), Certificate.pem(leaf))
  writeFileSync(join(folder, "wildcard.key"), key.export({ type: "pkcs8", format: "pem" }))
  return Certificate.pem(Certificate.mintRoot("an authority", rootKey, validity))
}

/** `project` has the packed packages and the examples, `database` is empty. */
export const runExamples = async (project: string, database: string): Promise<void> => {
  for (const file of readdirSync(project).filter((name) => /^(?:control-plane|edge|serve)\.ts$/u.test(name)))
    assert.isAtMost(readFileSync(join(project, file), "utf8").trimEnd().split("\n").length, 20, file)
  const state = join(project, "state")
  mkdirSync(state, { recursive: true })
  const ca = placeCertificate(state)
  const ports = await freePorts()
  const secrets = {
    admin: randomBytes(32).toString("hex"),
    seal: randomBytes(32).toString("hex"),
    TOKEN: "a-host-token"
  }
  const controlPlane = `http://127.0.0.1:${ports.controlPlane}`
  const edgeCertificate = join(state, "edge-cert.der")
  const programs = [
    new Spawned([join(project, "control-plane.ts")], {
      DATABASE_URL: database,
      PORT: String(ports.controlPlane),
      TOKEN: secrets.TOKEN,
      CT_CP_DATABASE_URL: database,
      CT_CP_SEAL_KEY: secrets.seal,
      CT_CP_EDGE_ADMIN_TOKEN: secrets.admin,
      CT_CP_EDGE_ADMIN_URL: `http://127.0.0.1:${ports.edgeAdmin}`,
      CT_CP_EDGE_CERT_PATH: edgeCertificate,
      CT_CP_MESH_EDGE_PORT: String(ports.mesh),
      CT_CP_HOSTNAME_ZONE: "example.net",
      CT_PORTAL_BASE_URL: "https://portal.example.net",
      CT_CP_AGENTS_URL: controlPlane
    }),
    new Spawned([join(project, "edge.ts")], {
      CT_EDGE_CP_URL: controlPlane,
      CT_EDGE_ADMIN_TOKEN: secrets.admin,
      CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${ports.edgeAdmin}`,
      CT_EDGE_LISTEN: `127.0.0.1:${ports.mesh}`,
      CT_FRONT_DOOR: `127.0.0.1:${ports.frontDoor}`,
      CT_EDGE_CERT_OUT: edgeCertificate,
      CT_EDGE_WILDCARD_CERT: join(state, "wildcard.pem"),
      CT_EDGE_WILDCARD_KEY: join(state, "wildcard.key")
    })
  ]
  const printed = () => programs.map(({ stderr, stdout }) => stdout + stderr).join("\n---\n")
  try {
    const [, edge] = programs
    await edge?.printed("the edge is up")
    const served = new Spawned([join(project, "serve.ts")], {
      CONTROL_PLANE: controlPlane,
      TOKEN: secrets.TOKEN,
      STATE_DIR: join(state, "agent")
    })
    programs.push(served)
    await eventually(() => /^https:\/\/hello/mu.test(served.stdout ?? ""), printed, 60_000)
    const host = new URL(/^https:\/\/\S+/mu.exec(served.stdout ?? "")?.[0] ?? "").hostname
    const answer = await ask({ port: ports.frontDoor, host, ca }, { timeout: 5000 })
    assert.strictEqual(answer.body.toString(), "hello from this program\n", printed())
    assert.strictEqual(await (await fetch(controlPlane)).text(), "my own page\n")
    assert.strictEqual((await fetch(`${controlPlane}/me/tunnels`)).status, 401)
    assert.strictEqual((await served.stop())?.code, 0, printed())
  } finally {
    await Promise.all(programs.map((program) => program.stop("SIGKILL")))
  }
}
