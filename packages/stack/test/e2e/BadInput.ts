/** What a whole platform does with bad input. */
import { eventually } from "@catenet/testing/Eventually"
import { httpOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { agent, type Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto"
import { connect, createServer } from "node:net"
import { connect as connectTls } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { get, provision, serve, connected } from "./Tunnel.ts"

let stack: Stack
let origin: Origin
const programs = ["postgres", "idp", "control-plane", "edge", "origin", "agent"]
let pids: ReadonlyArray<number> = []
/** A ClientHello that stops half-way: how it ended, and after how long. */
let halfHello: Promise<{ readonly outcome: "closed" | "open"; readonly millis: number }>

const hello = () => ({ host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root })

/** Sends bytes and waits until the other side closes, at most so long. */
const throwAt = (port: number, bytes: Buffer, within: number): Promise<"closed" | "open"> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
    const timer = setTimeout(() => {
      resolve("open")
      socket.destroy()
    }, within)
    socket.on("data", () => {})
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resolve("closed")
    })
  })

/** The first bytes that a TLS client sends for a name. */
const recordedHello = (servername: string): Promise<Buffer> =>
  new Promise((resolve) => {
    const recorder = createServer((socket) =>
      socket.once("data", (chunk: Buffer) => {
        resolve(chunk)
        socket.destroy()
        recorder.close()
      })
    )
    recorder.listen(0, "127.0.0.1", () => {
      const address = recorder.address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      connectTls({ port, host: "127.0.0.1", servername }).on("error", () => {})
    })
  })

const redeem = (body: Record<string, unknown>) =>
  fetch(stack.url("/enroll/redeem"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

const identity = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const jwk = publicKey.export({ format: "jwk" })
  return {
    key: createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" })),
    pubkey: Buffer.from(jwk.x ?? "", "base64url").toString("hex")
  }
}

/** What the identity provider answers to a sign-in. */
const signIn = async (form: Readonly<Record<string, string>>) => {
  const realm = `http://localhost:${stack.ports.identityProvider}/realms/catenet`
  const response = await fetch(`${realm}/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form)
  })
  return { ok: response.ok, token: ((await response.json()) as { access_token?: string }).access_token ?? "" }
}

const asMachine = (id: string, secret: string) =>
  signIn({ grant_type: "client_credentials", client_id: id, client_secret: secret })

const call = async (token: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(stack.url(path), {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as any) }
}

/** All of it; the platform stands before and after. */
export const badInput = (running: () => Stack) =>
  describe("bad input", () => {
    beforeAll(async () => {
      stack = running()
      origin = await httpOrigin()
      pids = programs.map((name) => stack.pid(name))
      // It takes ten seconds, in which all the others are served.
      const whole = await recordedHello("hello.localhost")
      const from = performance.now()
      halfHello = throwAt(stack.ports.frontDoor, whole.subarray(0, 100), 14_000).then((outcome) => ({
        outcome,
        millis: performance.now() - from
      }))
    })
    afterAll(() => origin?.close())

    it("as garbage on every port ends that connection and nothing else", async () => {
      const { controlPlane, demoOrigin: _demo, ...others } = stack.ports
      const ports = [controlPlane, ...Object.values(others)]
      const samples = [
        randomBytes(4096),
        Buffer.alloc(70_000, 0x16),
        Buffer.from("GET / HTTP/9.9\r\n\r\n"),
        Buffer.from([0])
      ]
      await Promise.all(ports.flatMap((port) => samples.map((sample) => throwAt(port, sample, 12_000))))
      assert.strictEqual((await ask(hello())).status, 200)
      assert.deepStrictEqual(
        programs.map((name) => stack.pid(name)),
        pids
      )
    })

    it("as a visitor of an unknown name is refused", async () => {
      await ask({ ...hello(), host: "unknown.localhost" }).then(
        () => assert.fail("an unknown name must not be served"),
        (cause: unknown) => assert.instanceOf(cause, Error)
      )
    })

    it("as an agent with an unknown token gets no name, and says why", async () => {
      const tunnel = await provision(stack, "unknown-token.catenet.localhost", origin.port)
      const wrong = randomBytes(32).toString("hex")
      const started = agent([], { ...tunnel.variables, CT_AGENT_TOKEN: wrong, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "1" })
      const { code, stderr } = await started.ended
      assert.include([4, 5], code)
      assert.notInclude(stderr, wrong)
      assert.isFalse(await connected(stack, tunnel.token))
    })

    it("as a revoked token is cut at once and stays out", async () => {
      const tunnel = await provision(stack, "revoked.catenet.localhost", origin.port)
      const started = await serve(stack, tunnel, { CT_AGENT_RECONNECT_MAX_ATTEMPTS: "2" })
      assert.strictEqual((await get(tunnel, "/")).status, 200)
      const revoked = await fetch(`http://127.0.0.1:${stack.ports.edgeAdmin}/admin/revoke/${tunnel.token}`, {
        method: "POST",
        headers: { "x-ct-admin-token": stack.secrets["edgeAdminToken"] ?? "" }
      })
      assert.strictEqual(revoked.status, 200)
      await eventually(async () => !(await connected(stack, tunnel.token)), "the cut")
      const { code } = await started.ended
      assert.strictEqual(code, 4)
    })

    it("as a wrong proof, an unknown and a replayed join token is answered 403, 404 and 409", async () => {
      const issued = await stack.admin("POST", "/enroll/issue", { tenant: "tester" })
      const { token } = (await issued.json()) as { token: string }
      const { key, pubkey } = identity()
      const proof = (of: string) => sign(null, Buffer.from(of, "hex"), key).toString("hex")
      const body = { token, agent: "tester-agent", pubkey }
      assert.strictEqual((await redeem({ ...body, proof: "00".repeat(64) })).status, 403)
      const other = randomBytes(32).toString("hex")
      assert.strictEqual((await redeem({ ...body, token: other, proof: proof(other) })).status, 404)
      assert.strictEqual((await redeem({ ...body, proof: proof(token) })).status, 200)
      const again = await redeem({ ...body, proof: proof(token) })
      assert.strictEqual(again.status, 409)
      const text = await again.text()
      assert.include(again.headers.get("content-type") ?? "", "application/problem+json")
      assert.notInclude(text, token)
    })

    it("as requests with broken bodies is answered 4xx, never 5xx", async () => {
      const post = (body: string, type = "application/json") =>
        fetch(stack.url("/enroll/redeem"), { method: "POST", headers: { "content-type": type }, body })
      assert.strictEqual((await post("{")).status, 400)
      assert.strictEqual((await post("{}")).status, 422)
      assert.strictEqual((await post("{}", "text/plain")).status, 415)
      assert.strictEqual((await post(`"${"x".repeat(2 * 1024 * 1024 + 1)}"`)).status, 413)
      assert.strictEqual((await fetch(stack.url("/no/such/path"))).status, 404)
      assert.strictEqual((await fetch(stack.url("/status"), { method: "DELETE" })).status, 405)
    })

    it("keeps no person from giving a machine an account of its own, and from ending it", async () => {
      const person = { username: "demo@catenet.localhost", password: stack.secrets["demoPassword"] ?? "" }
      const { token } = await signIn({ grant_type: "password", client_id: "admin-cli", ...person })
      const made = await call(token, "POST", "/me/service-accounts", { name: "build server" })
      assert.strictEqual(made.status, 200)
      const { client_id: id, secret } = made.body

      const machine = await asMachine(id, secret)
      const own = await call(machine.token, "GET", "/me/account")
      const persons = await call(token, "GET", "/me/account")
      assert.deepStrictEqual([own.status, own.body.balance], [200, 0])
      assert.notStrictEqual(own.body.subject, persons.body.subject)
      assert.deepStrictEqual((await call(machine.token, "GET", "/me/service-accounts")).body, [])

      const renewed = await call(token, "POST", `/me/service-accounts/${id}/rotate`)
      assert.isFalse((await asMachine(id, secret)).ok)
      assert.isTrue((await asMachine(id, renewed.body.secret)).ok)
      assert.strictEqual((await call(machine.token, "DELETE", `/me/service-accounts/${id}`)).status, 404)
      assert.strictEqual((await call(token, "DELETE", `/me/service-accounts/${id}`)).status, 204)
      assert.isFalse((await asMachine(id, renewed.body.secret)).ok)
      assert.deepStrictEqual((await call(token, "GET", "/me/service-accounts")).body, [])
    })

    it("as a ClientHello that stops half-way is closed after ten seconds, while others are served", async () => {
      const { millis, outcome } = await halfHello
      assert.strictEqual(outcome, "closed")
      assert.isAbove(millis, 8000)
      assert.strictEqual((await ask(hello())).status, 200)
    })
  })
