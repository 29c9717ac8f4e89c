import { assert, beforeAll, describe, it } from "vitest"
import { admin, clientToken, json, token, useRealm } from "./realm.ts"

const { idp } = useRealm()
let bearer = ""

const representation = (clientId: string) => ({
  clientId,
  name: "build server",
  protocol: "openid-connect",
  enabled: true,
  publicClient: false,
  standardFlowEnabled: false,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: true
})

const createdId = (response: Response) => response.headers.get("location")?.split("/").at(-1) ?? ""
const login = (clientId: string, secret: string) =>
  token(idp(), { grant_type: "client_credentials", client_id: clientId, client_secret: secret })

describe("the admin REST", () => {
  beforeAll(async () => {
    bearer = await clientToken(idp(), "manager", "manager-secret")
  })

  it("refuses strangers, and service accounts without the role", async () => {
    assert.strictEqual((await admin(idp(), "no.such.token", "GET", "/clients")).status, 401)
    const plain = await clientToken(idp(), "plain", "plain-secret")
    assert.strictEqual((await admin(idp(), plain, "POST", "/clients", representation("x"))).status, 403)
  })

  it("makes a client once, and lets it in with its secret", async () => {
    const first = await admin(idp(), bearer, "POST", "/clients", representation("sa-1"))
    assert.strictEqual(first.status, 201)
    assert.strictEqual((await admin(idp(), bearer, "POST", "/clients", representation("sa-1"))).status, 409)
    const { value } = await json(await admin(idp(), bearer, "GET", `/clients/${createdId(first)}/client-secret`))
    assert.strictEqual((await login("sa-1", value)).status, 200)
  })

  it("replaces a secret at once", async () => {
    const id = createdId(await admin(idp(), bearer, "POST", "/clients", representation("sa-2")))
    const old = (await json(await admin(idp(), bearer, "GET", `/clients/${id}/client-secret`))).value
    const next = (await json(await admin(idp(), bearer, "POST", `/clients/${id}/client-secret`, {}))).value
    assert.notStrictEqual(next, old)
    assert.notStrictEqual((await login("sa-2", old)).status, 200)
    assert.strictEqual((await login("sa-2", next)).status, 200)
  })

  it("deletes a client at once, and finds it no more", async () => {
    const id = createdId(await admin(idp(), bearer, "POST", "/clients", representation("sa-3")))
    const secret = (await json(await admin(idp(), bearer, "GET", `/clients/${id}/client-secret`))).value
    assert.strictEqual((await admin(idp(), bearer, "DELETE", `/clients/${id}`)).status, 204)
    assert.notStrictEqual((await login("sa-3", secret)).status, 200)
    assert.strictEqual((await admin(idp(), bearer, "DELETE", `/clients/${id}`)).status, 404)
    assert.deepStrictEqual(await json(await admin(idp(), bearer, "GET", "/clients?clientId=sa-3")), [])
  })

  it("folds the ASCII letters of an address and no others", async () => {
    const users = await clientToken(idp(), "manager", "manager-secret")
    const make = async (email: string) => (await admin(idp(), users, "POST", "/users", { email })).status
    assert.strictEqual(await make("KIM@example.test"), 201)
    assert.strictEqual(await make("kim@EXAMPLE.test"), 409)
    assert.strictEqual(await make("\u212aim@example.test"), 201, "the Kelvin sign is no k")
    const found = await json(await admin(idp(), users, "GET", "/users?email=\u212aim%40example.test"))
    assert.deepStrictEqual(
      found.map(({ email }: { email: string }) => email),
      ["\u212aim@example.test"]
    )
  })

  it("never shows a secret in a representation", async () => {
    assert.notInclude(await (await admin(idp(), bearer, "GET", "/clients")).text(), 'secret":')
  })

  it("makes a user who can sign in once a password is set", async () => {
    const id = createdId(await admin(idp(), bearer, "POST", "/users", { email: "Grace@example.test" }))
    assert.strictEqual((await admin(idp(), bearer, "POST", "/users", { email: "grace@example.test" })).status, 409)
    const form = { grant_type: "password", client_id: "admin-cli", username: "grace@example.test", password: "tape" }
    assert.notStrictEqual((await token(idp(), form)).status, 200)
    await admin(idp(), bearer, "PUT", `/users/${id}/reset-password`, { type: "password", value: "tape" })
    assert.strictEqual((await token(idp(), form)).status, 200)
    const [found] = await json(await admin(idp(), bearer, "GET", "/users?email=grace%40example.test&exact=true"))
    assert.strictEqual(found.id, id)
  })

  it("answers what it does not know with 404, and nonsense with 400", async () => {
    assert.strictEqual((await admin(idp(), bearer, "GET", "/groups")).status, 404)
    assert.strictEqual((await admin(idp(), bearer, "POST", "/clients", [1])).status, 400)
    assert.strictEqual((await admin(idp(), bearer, "POST", "/clients", {})).status, 400)
  })
})
