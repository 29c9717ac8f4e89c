import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

let stack: Stack

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

describe("a machine", () => {
  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up()
  })
  afterAll(() => stack.dispose())

  it("gets a service account from a person, and loses it when the person deletes it", async () => {
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
})
