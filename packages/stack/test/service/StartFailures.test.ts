/** Each program that cannot start says why in sentences an operator can act on: the variable, the fact, the next step. No trace. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { catenet } from "@catenet/testing/stack/e2e/Stack"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "catenet-start-"))
const at = (name: string) => join(folder, name)
const secret = "5e".repeat(32)
const taken = createServer()
const start2020 = Date.parse("2020-01-01T00:00:00Z")
const end2020 = Date.parse("2020-12-31T00:00:00Z")
const end2040 = Date.parse("2040-12-31T00:00:00Z")

/** A root with its key; one that has ended was good in 2020. */
const pair = (name: string, ends: number) => {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  writeFileSync(at(`${name}.key`), key.export({ type: "pkcs8", format: "pem" }))
  writeFileSync(at(`${name}.pem`), Certificate.pem(Certificate.mintRoot("root", key, { from: start2020, until: ends })))
}

const idp = {
  CT_IDP_LISTEN: "127.0.0.1:0",
  CT_IDP_FOLDER: at("idp"),
  CT_IDP_PORTAL_URL: "http://127.0.0.1:8090",
  CT_IDP_PORTAL_CLIENT_SECRET: secret,
  CT_IDP_GATE_CLIENT_SECRET: secret,
  CT_IDP_MANAGER_CLIENT_SECRET: secret,
  CT_IDP_USER_EMAIL: "ada@example.test",
  CT_IDP_USER_PASSWORD: secret
}
const acme = {
  CT_ACME_SERVER_LISTEN: "127.0.0.1:0",
  CT_ACME_SERVER_FRONT_DOOR: "127.0.0.1:1",
  CT_ACME_SERVER_EAB_HMAC: secret,
  CT_ACME_SERVER_ROOT: at("root.pem"),
  CT_ACME_SERVER_ROOT_KEY: at("root.key")
}
const edge = {
  CT_EDGE_LISTEN: "127.0.0.1:0",
  CT_FRONT_DOOR: "127.0.0.1:0",
  CT_EDGE_ADMIN_LISTEN: "127.0.0.1:0",
  CT_EDGE_METRICS_LISTEN: "127.0.0.1:0",
  CT_EDGE_ADMIN_TOKEN: secret,
  CT_EDGE_CERT_OUT: at("edge.der")
}
const database = "postgres://a:b@127.0.0.1:1/x"

interface Failure {
  readonly command: string
  readonly fault: string
  readonly variables: Readonly<Record<string, string>>
  /** The sentence that is said. */
  readonly says: RegExp
  /** 3 unless something else is wrong than the configuration or the machine. */
  readonly code?: number
}

const failures: ReadonlyArray<Failure> = [
  {
    command: "idp",
    fault: "a folder below a file",
    variables: { ...idp, CT_IDP_FOLDER: at("file/idp") },
    says: /^Error: CT_IDP_FOLDER names a folder that cannot be used: .*file\/idp \(ENOTDIR\); name a folder .*\.$/u
  },
  {
    command: "idp",
    fault: "a folder below /proc",
    variables: { ...idp, CT_IDP_FOLDER: "/proc/idp" },
    says: /^Error: CT_IDP_FOLDER is not a path outside of \/proc; name one .*\.$/u
  },
  {
    command: "up",
    fault: "a folder below /proc",
    variables: { CT_STACK_FOLDER: "/proc/stack" },
    says: /^Error: CT_STACK_FOLDER is not a path outside of \/proc; name one .*\.$/u
  },
  {
    command: "idp",
    fault: "a realm that is no JSON",
    variables: { ...idp, CT_IDP_FOLDER: at("realm") },
    says: /^Error: CT_IDP_FOLDER names a folder that cannot be used: .*realm\.json \(no realm in JSON\); name a folder .*\.$/u
  },
  {
    command: "acme",
    fault: "no file at the root",
    variables: { ...acme, CT_ACME_SERVER_ROOT: at("none") },
    says: /^Error: CT_ACME_SERVER_ROOT names .*none, which cannot be read \(ENOENT\); correct the path.*\.$/u
  },
  {
    command: "acme",
    fault: "a root that is no certificate",
    variables: { ...acme, CT_ACME_SERVER_ROOT: at("garbage") },
    says: /^Error: CT_ACME_SERVER_ROOT names .*garbage, which holds no certificate; name the PEM file.*\.$/u
  },
  {
    command: "acme",
    fault: "a root that has ended",
    variables: { ...acme, CT_ACME_SERVER_ROOT: at("ended.pem"), CT_ACME_SERVER_ROOT_KEY: at("ended.key") },
    says: /^Error: CT_ACME_SERVER_ROOT names .*ended\.pem, which ended on .*; make a new root and name it\.$/u
  },
  {
    command: "acme",
    fault: "a key that is none",
    variables: { ...acme, CT_ACME_SERVER_ROOT_KEY: at("garbage") },
    says: /^Error: CT_ACME_SERVER_ROOT_KEY names .*garbage, which holds no private key; name the PEM file.*\.$/u
  },
  {
    command: "acme",
    fault: "the key of another certificate",
    variables: { ...acme, CT_ACME_SERVER_ROOT_KEY: at("other.key") },
    says: /^Error: CT_ACME_SERVER_ROOT_KEY names .*other\.key, which is not the key of .*root\.pem; name the key .*\.$/u
  },
  {
    command: "edge",
    fault: "a certificate file below a file",
    variables: { ...edge, CT_EDGE_CERT_OUT: at("file/edge.der") },
    says: /^Error: CT_EDGE_CERT_OUT keeps .*edge-ca-key\.pem beside it, which cannot be used \(ENOTDIR.*\); name a file in a folder.*\.$/u
  },
  {
    command: "edge",
    fault: "one half of a pair",
    variables: { ...edge, CT_EDGE_WILDCARD_CERT: at("root.pem") },
    says: /^Error: CT_EDGE_WILDCARD_KEY is not set; set both to the two halves of one PEM pair, or neither\.$/u
  },
  {
    command: "edge",
    fault: "a taken port",
    variables: { ...edge, CT_EDGE_METRICS_LISTEN: "TAKEN" },
    says: /^Error: 127\.0\.0\.1:\d+ cannot be opened \(listen EADDRINUSE.*\); move it with CT_EDGE_METRICS_LISTEN\.$/u
  },
  {
    command: "migrate",
    fault: "an address that is none",
    variables: { CT_CP_DATABASE_URL: "mysql://x" },
    says: /^Error: CT_CP_DATABASE_URL is not a URL such as .*; correct it and start again\.$/u
  },
  {
    command: "migrate",
    fault: "a root of the database that is not there",
    variables: { CT_CP_DATABASE_URL: `${database}?sslmode=verify-full&sslrootcert=${at("none")}` },
    says: /^Error: CT_CP_DATABASE_URL needs .*none, its sslrootcert, which cannot be read \(ENOENT\); correct sslrootcert .*\.$/u
  },
  {
    command: `backup ${at("new.dump")}`,
    fault: "no address",
    variables: {},
    says: /^Error: CT_CP_DATABASE_URL is not set; set it to .*\.$/u
  },
  {
    command: `service edge --config ${at("none")}`,
    fault: "no file of variables",
    variables: {},
    says: /^Error: The file .*none cannot be read; write the program's variables into it, or correct --config\.$/u
  },
  {
    command: "idp",
    fault: "an address of the portal that is none",
    variables: { ...idp, CT_IDP_PORTAL_URL: "portal" },
    says: /^Error: CT_IDP_PORTAL_URL is not an http or https URL without a slash at its end; correct it and start again\.$/u
  },
  {
    command: "receipts verify none",
    fault: "no file",
    variables: {},
    code: 2,
    says: /^Error: none cannot be read \(ENOENT: .*\); name a file that is there and that you can read\.$/u
  },
  {
    command: "up --no-demo",
    fault: "a folder below a file",
    variables: { CT_STACK_FOLDER: at("file/stack") },
    says: /^Error: CT_STACK_FOLDER names a folder that cannot be used: .*file\/stack \(ENOTDIR\); name a folder .*\.$/u
  },
  {
    command: "up --no-demo",
    fault: "secrets that are none",
    variables: { CT_STACK_FOLDER: at("secrets") },
    says: /^Error: CT_STACK_FOLDER names a folder whose secrets\.json holds no secrets of the stack; bring .* back from a copy, or name a new folder\.$/u
  },
  {
    command: "up --no-demo",
    fault: "an address that is none",
    variables: { CT_IDP_LISTEN: "127.0.0.1:0" },
    says: /^Error: CT_IDP_LISTEN is "127\.0\.0\.1:0", which is not a host and a port; write it like 127\.0\.0\.1:8091\.$/u
  }
]

beforeAll(async () => {
  pair("root", end2040)
  pair("other", end2040)
  pair("ended", end2020)
  for (const name of ["file", "garbage"]) writeFileSync(at(name), name)
  for (const name of ["realm", "secrets"]) mkdirSync(at(name))
  writeFileSync(at("secrets/secrets.json"), "garbage")
  writeFileSync(at("realm/realm.json"), "garbage")
  taken.listen(0, "127.0.0.1")
  await once(taken, "listening")
})
afterAll(() => {
  taken.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.concurrent("a program that cannot start", () => {
  it.each(failures)("ends `catenet $command` with its code and a sentence: $fault", async (failure) => {
    const { code: expected = 3, command, says, variables } = failure
    const { port } = taken.address() as AddressInfo
    const given = Object.entries(variables).map(([name, value]) => [name, value.replace("TAKEN", `127.0.0.1:${port}`)])
    const { code, stderr } = await catenet(command.split(" "), Object.fromEntries(given)).ended
    assert.strictEqual(code, expected, stderr)
    const [last = ""] = stderr.trim().split("\n").slice(-1)
    assert.match(last, says)
    assert.notMatch(stderr, /^ {4}at |\.\.$|\[object|undefined/mu)
  })
})
