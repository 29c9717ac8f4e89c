import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose"
import { request } from "node:http"
import { assert, describe, it } from "vitest"
import { start } from "../src/IdentityProvider.ts"
import { ada, admin, clientToken, json, options, token, useRealm } from "./realm.ts"

const { folder, idp } = useRealm()
const passwordForm = { grant_type: "password", client_id: "admin-cli", username: ada.email, password: ada.password }

const verified = (accessToken: string) =>
  jwtVerify(accessToken, createRemoteJWKSet(new URL(`${idp().issuer}/protocol/openid-connect/certs`)), {
    issuer: idp().issuer,
    audience: "catenet",
    algorithms: ["RS256"]
  })

describe("the token endpoint", () => {
  it("is announced by discovery", async () => {
    const found = await json(await fetch(`${idp().issuer}/.well-known/openid-configuration`))
    assert.strictEqual(found.issuer, idp().issuer)
    assert.strictEqual(found.token_endpoint, `${idp().issuer}/protocol/openid-connect/token`)
    assert.strictEqual(found.jwks_uri, `${idp().issuer}/protocol/openid-connect/certs`)
    assert.include(found.grant_types_supported, "password")
  })

  it("gives a signed access token for a password, with the user's claims", async () => {
    const response = await token(idp(), passwordForm)
    assert.strictEqual(response.status, 200)
    const { access_token } = await json(response)
    assert.strictEqual(decodeProtectedHeader(access_token).typ, "JWT")
    const { payload } = await verified(access_token)
    assert.strictEqual(payload["typ"], "Bearer")
    assert.strictEqual(payload["email"], ada.email)
    assert.strictEqual(payload["email_verified"], true)
    assert.strictEqual(payload["azp"], "admin-cli")
    assert.isAbove((payload.exp ?? 0) - (payload.iat ?? 0), 60)
  })

  it("refuses a wrong password, an unknown user and an unknown client", async () => {
    for (const form of [
      { ...passwordForm, password: "wrong" },
      { ...passwordForm, username: "unknown@example.test" },
      { grant_type: "password", client_id: "admin-cli" },
      { ...passwordForm, client_id: "nothing" }
    ]) {
      const response = await token(idp(), form)
      assert.strictEqual(response.status, 401, JSON.stringify(form))
      assert.notProperty(await json(response), "access_token")
    }
  })

  it("names bad credentials as Keycloak does, and keeps 400 for what is malformed", async () => {
    const refused = await json(await token(idp(), { ...passwordForm, password: "wrong" }))
    assert.deepInclude(refused, { error: "invalid_grant", error_description: "Invalid user credentials" })
    const expired = { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: "none" }
    assert.strictEqual((await token(idp(), expired)).status, 400)
  })

  it("has wrong passwords of one address keep no other one waiting, and have that address refused in the end", async () => {
    const { port } = idp()
    const from = (localAddress: string, password: string) =>
      new Promise<{ readonly status: number; readonly after: string | undefined }>((resolve, reject) => {
        const path = "/realms/demo/protocol/openid-connect/token"
        const headers = { "content-type": "application/x-www-form-urlencoded" }
        const sent = request({ host: "127.0.0.1", port, path, localAddress, method: "POST", headers }, (response) => {
          resolve({ status: response.statusCode ?? 0, after: response.headers["retry-after"] })
          response.resume()
        })
        sent.once("error", reject)
        sent.end(new URLSearchParams({ ...passwordForm, password }).toString())
      })
    let tried = 0
    const crowd = Array.from({ length: 30 }, async () => {
      const { status } = await from("127.0.0.2", "wrong")
      tried++
      return status
    })
    assert.strictEqual((await from("127.0.0.1", ada.password)).status, 200)
    assert.isBelow(tried, 30, "another address did not wait for all of them")
    assert.deepStrictEqual(new Set(await Promise.all(crowd)), new Set([401]))
    // One comes back every two seconds.
    let last = await from("127.0.0.2", "wrong")
    for (let tries = 0; tries < 60 && last.status === 401; tries++) last = await from("127.0.0.2", "wrong")
    assert.strictEqual(last.status, 429)
    assert.isAtLeast(Number(last.after), 1)
    assert.strictEqual((await from("127.0.0.1", ada.password)).status, 200)
  })

  it("refuses a grant that the client does not have", async () => {
    const form = { ...passwordForm, client_id: "portal", client_secret: "portal-secret" }
    assert.include([400, 401], (await token(idp(), form)).status)
  })

  it("gives a service account a subject of its own", async () => {
    const form = { grant_type: "client_credentials", client_id: "plain", client_secret: "plain-secret" }
    const { access_token } = await json(await token(idp(), form))
    const { payload } = await verified(access_token)
    assert.strictEqual(payload.sub, idp().store.client("plain")?.id)
    assert.strictEqual(payload["preferred_username"], "service-account-plain")
  })

  it("makes a client's tokens for its own audience, and others for the realm's", async () => {
    const audience = async (clientId: string, client_secret: string) => {
      const form = { grant_type: "client_credentials", client_id: clientId, client_secret }
      return decodeJwt((await json(await token(idp(), form))).access_token).aud
    }
    assert.strictEqual(await audience("gates", "gate-secret"), "gates")
    assert.strictEqual(await audience("plain", "plain-secret"), "catenet")
    const bearer = await clientToken(idp(), "manager", "manager-secret")
    const mapper = { protocolMapper: "oidc-audience-mapper", config: { "included.custom.audience": "bots" } }
    const made = {
      clientId: "bot",
      secret: "bot-secret",
      standardFlowEnabled: false,
      serviceAccountsEnabled: true,
      protocolMappers: [mapper]
    }
    assert.strictEqual((await admin(idp(), bearer, "POST", "/clients", made)).status, 201)
    assert.strictEqual(await audience("bot", "bot-secret"), "bots")
  })

  it("refreshes", async () => {
    const first = await json(await token(idp(), passwordForm))
    const form = { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: first.refresh_token }
    const second = await json(await token(idp(), form))
    const [before, after] = [await verified(first.access_token), await verified(second.access_token)]
    assert.strictEqual(after.payload.sub, before.payload.sub)
  })

  it("answers userinfo for an access token, and 401 without one", async () => {
    const { access_token } = await json(await token(idp(), passwordForm))
    const url = `${idp().issuer}/protocol/openid-connect/userinfo`
    const known = await fetch(url, { headers: { authorization: `Bearer ${access_token}` } })
    assert.strictEqual((await json(known)).email, ada.email)
    assert.strictEqual((await fetch(url)).status, 401)
    assert.strictEqual((await fetch(url, { headers: { authorization: "Bearer a.b.c" } })).status, 401)
  })

  it("keeps keys, clients and users over a restart", async () => {
    const other = await start(options(folder))
    try {
      assert.deepStrictEqual(other.store.keys, idp().store.keys)
      const idIn = async ({ store }: ReturnType<typeof idp>) => (await store.userBySignIn(ada.email))?.id
      assert.strictEqual(await idIn(other), await idIn(idp()))
      assert.strictEqual(other.store.client("plain")?.id, idp().store.client("plain")?.id)
    } finally {
      await other.close()
    }
  })
})
