/** Applications that the realm has not declared: how they become known, what people agree to, and what their tokens are good for. */
import { decodeJwt } from "jose"
import { createHash, randomBytes } from "node:crypto"
import { request } from "node:http"
import { assert, describe, it, vi } from "vitest"
import { ada, admin, clientToken, json, token, useRealm } from "./realm.ts"

const { idp } = useRealm()
const callback = "http://127.0.0.1:9/callback"
const resource = "https://tools.example.test/"
const protocol = () => `${idp().issuer}/protocol/openid-connect`

const register = (metadata: object) =>
  fetch(`${idp().issuer}/clients-registrations/openid-connect`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [callback], token_endpoint_auth_method: "none", ...metadata })
  })

const registered = async (): Promise<string> =>
  (await json(await register({ client_name: "Notes", grant_types: ["authorization_code", "refresh_token"] }))).client_id

interface Asked {
  readonly clientId: string
  readonly answer?: "yes" | "no"
  /** Parameters in the place of the usual ones; undefined leaves one out. */
  readonly more?: Readonly<Record<string, string | undefined>>
  readonly jar?: Map<string, string>
}

/** What comes of a sign-in: the parameters of the return, the pages on the way, and how to get tokens for the code. */
const signIn = async ({ answer = "yes", clientId, jar = new Map(), more = {} }: Asked) => {
  const verifier = randomBytes(32).toString("base64url")
  const usual = {
    client_id: clientId,
    response_type: "code",
    redirect_uri: callback,
    scope: "openid email",
    resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...more
  }
  const query = new URLSearchParams(JSON.parse(JSON.stringify(usual)))
  let [at, form, pages]: [string, Record<string, string> | undefined, Array<string>] = [
    `${protocol()}/auth?${query}`,
    undefined,
    []
  ]
  for (let step = 0; step < 20 && !at.startsWith(callback); step++) {
    const response = await fetch(at, {
      redirect: "manual",
      headers: { cookie: Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(cookie) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get("location")
    const text = await response.text()
    if (location === null) pages.push(text)
    const action = /action="([^"]+)"/u.exec(text)?.[1]
    if (location === null && action === undefined) break
    at = new URL(location ?? action ?? "", at).href
    form =
      location !== null
        ? undefined
        : text.includes('name="password"')
          ? { username: ada.email, password: ada.password }
          : { answer }
  }
  const params = new URL(at).searchParams
  const tokens = (more: Record<string, string> = {}) =>
    token(idp(), {
      grant_type: "authorization_code",
      client_id: clientId,
      code: params.get("code") ?? "",
      redirect_uri: callback,
      code_verifier: verifier,
      resource,
      ...more
    })
  return { pages, params, tokens }
}

describe("applications", () => {
  it("find the metadata in front of the issuer's path, with registration, documents and S256", async () => {
    for (const kind of ["oauth-authorization-server", "openid-configuration"]) {
      const found = await json(await fetch(`${idp().origin}/.well-known/${kind}/realms/demo`))
      assert.strictEqual(found.issuer, idp().issuer)
      assert.strictEqual(found.registration_endpoint, `${idp().issuer}/clients-registrations/openid-connect`)
      assert.isTrue(found.client_id_metadata_document_supported)
      assert.deepStrictEqual(found.code_challenge_methods_supported, ["S256"])
    }
  })

  it("sign a person in who agrees each time, for one host alone, until the person revokes it", async () => {
    const clientId = await registered()
    const jar = new Map<string, string>()
    const { pages, tokens } = await signIn({ clientId, jar })
    assert.include(pages.at(-1), "“Notes” wants to use tools.example.test in your name (ada@example.test).")
    assert.include(pages.at(-1), "It chose this name itself. The answer goes to a program on this computer.")
    const given = await json(await tokens())
    const claims = decodeJwt(given.access_token)
    assert.deepInclude(claims, { aud: resource, azp: clientId, email: ada.email, typ: "Bearer" })
    const again = await signIn({ clientId, jar })
    assert.lengthOf(again.pages, 1, "signed in already, and asked all the same")
    const refresh = () =>
      token(idp(), { grant_type: "refresh_token", client_id: clientId, refresh_token: given.refresh_token })
    const refreshed = await json(await refresh())
    assert.strictEqual(decodeJwt(refreshed.access_token).aud, resource)
    const rotated = () =>
      token(idp(), { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshed.refresh_token })

    const manager = await clientToken(idp(), "manager", "manager-secret")
    const path = `/users/${claims.sub}/consents`
    const listed = await json(await admin(idp(), manager, "GET", path))
    assert.deepInclude(listed[0], { clientId, resources: [resource] })
    const one = `${path}/${encodeURIComponent(clientId)}`
    assert.strictEqual((await admin(idp(), manager, "DELETE", one)).status, 204)
    assert.strictEqual((await admin(idp(), manager, "DELETE", one)).status, 404)
    assert.deepStrictEqual(await json(await admin(idp(), manager, "GET", path)), [])
    assert.strictEqual((await rotated()).status, 400)
    const plain = await clientToken(idp(), "plain", "plain-secret")
    assert.strictEqual((await admin(idp(), plain, "GET", path)).status, 403)
  })

  it("get nothing from a person who does not agree, without PKCE, or for anything but a host", async () => {
    const clientId = await registered()
    const refused = async (asked: Omit<Asked, "clientId">) => {
      const { pages, params } = await signIn({ clientId, ...asked })
      assert.isNull(params.get("code"))
      return params.get("error") ?? pages.join()
    }
    assert.strictEqual(await refused({ answer: "no" }), "access_denied")
    assert.strictEqual(
      await refused({ more: { code_challenge: undefined, code_challenge_method: undefined } }),
      "invalid_request"
    )
    assert.strictEqual(await refused({ more: { code_challenge_method: "plain" } }), "invalid_request")
    for (const other of [
      undefined,
      "urn:catenet:control-plane",
      "http://tools.example.test/",
      `${resource}path`,
      "catenet"
    ])
      assert.strictEqual(await refused({ more: { resource: other } }), "invalid_target", String(other))
    assert.strictEqual(await refused({ more: { prompt: "none" } }), "login_required")
    assert.include(await refused({ more: { redirect_uri: "https://evil.example/" } }), "redirect_uri")
    const { tokens } = await signIn({ clientId })
    assert.strictEqual((await tokens({ resource: "https://other.example.test/" })).status, 400)
  })

  it("register no grants by which they would need no person", async () => {
    for (const grant of ["password", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"]) {
      const response = await register({ grant_types: ["authorization_code", grant] })
      assert.deepInclude(
        { status: response.status, ...(await json(response)) },
        { status: 400, error: "invalid_client_metadata" }
      )
    }
  })

  it("may be described by a document at their id, which is fetched from public addresses only", async () => {
    const id = "https://notes.example.test/client.json"
    const real = globalThis.fetch
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) =>
      String(input) === id
        ? Promise.resolve(
            Response.json({
              client_id: id,
              client_name: "Documented",
              redirect_uris: [callback],
              token_endpoint_auth_method: "none"
            })
          )
        : real(input, init)
    )
    try {
      const { pages, tokens } = await signIn({ clientId: id })
      assert.include(pages.at(-1), "“Documented” wants to use")
      assert.include(pages.at(-1), "It is described at notes.example.test.")
      assert.strictEqual(decodeJwt((await json(await tokens())).access_token).aud, resource)
    } finally {
      fetched.mockRestore()
    }
    const { params, pages } = await signIn({ clientId: `https://127.0.0.1:${idp().port}/client.json` })
    assert.isNull(params.get("code"))
    assert.include(pages.join(), "invalid_client")
  })

  it("of one network are bounded, and leave room for those of another", async () => {
    const from = (localAddress: string) =>
      new Promise<number>((resolve, reject) => {
        const path = "/realms/demo/clients-registrations/openid-connect"
        const headers = { "content-type": "application/json" }
        const sent = request(
          { host: "127.0.0.1", port: idp().port, path, localAddress, method: "POST", headers },
          (response) => {
            resolve(response.statusCode ?? 0)
            response.resume()
          }
        )
        sent.once("error", reject)
        sent.end(JSON.stringify({ redirect_uris: [callback], token_endpoint_auth_method: "none" }))
      })
    let status = await from("127.0.0.2")
    for (let n = 0; n < 60 && status === 201; n++) status = await from("127.0.0.2")
    assert.strictEqual(status, 429)
    assert.strictEqual(await from("127.0.0.3"), 201)
  })
})
