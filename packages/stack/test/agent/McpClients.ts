/** Clients of MCP as people use them: the official SDK with OAuth, and a person with a browser who signs in and agrees. */
import type { TestEdge } from "@catenet/testing/edge/TestEdge"
import type { Address } from "@catenet/testing/server/gate/SignInServer"
import { assert } from "@effect/vitest"
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import { request as httpsRequest } from "node:https"
import { Readable } from "node:stream"

const callback = "http://127.0.0.1:9/callback"

/** `fetch` that finds the hosts of an edge. */
export const through =
  (edge: TestEdge): typeof fetch =>
  async (input, init) => {
    const sent = new Request(input, init)
    const url = new URL(sent.url)
    if (!url.hostname.endsWith(".zone.test")) return fetch(input, init)
    const body = sent.body === null ? undefined : Buffer.from(await sent.arrayBuffer())
    return new Promise((resolve, reject) => {
      const asked = httpsRequest(
        {
          host: "127.0.0.1",
          port: edge.frontDoor,
          servername: url.hostname,
          ca: edge.wildcardRoot,
          agent: false,
          method: sent.method,
          path: `${url.pathname}${url.search}`,
          headers: { ...Object.fromEntries(sent.headers), host: url.host },
          signal: sent.signal
        },
        (response) => {
          const { headers, statusCode = 0 } = response
          const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
          const hasBody = statusCode !== 204 && statusCode !== 304
          if (!hasBody) response.resume()
          const stream = hasBody ? (Readable.toWeb(response) as ReadableStream<Uint8Array>) : null
          resolve(new Response(stream, { status: statusCode, headers: fields }))
        }
      )
      asked.on("error", reject).end(body)
    })
  }

/** What a person does with the browser to which an application sends it; where the browser is sent in the end. */
export const agrees = async (address: URL, username: Address, answer: "yes" | "no") => {
  const jar = new Map<string, string>()
  const pages: Array<string> = []
  let [at, form]: [string, Record<string, string> | undefined] = [address.href, undefined]
  for (let step = 0; step < 20; step++) {
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
    if (location === null) {
      pages.push(text)
      at = new URL(/action="([^"]+)"/u.exec(text)?.[1] ?? assert.fail(text), at).href
      form = text.includes('name="password"') ? { username, password: "correct horse" } : { answer }
    } else {
      at = new URL(location, at).href
      form = undefined
    }
    if (at.startsWith(callback)) return { pages, params: new URL(at).searchParams }
  }
  return assert.fail(`led in circles: ${at}`)
}

/** An application on somebody's machine, before its first sign-in. */
export const application = (person: Address, answer: "yes" | "no" = "yes") => {
  let information: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let verifier = ""
  let returned: Awaited<ReturnType<typeof agrees>> | undefined
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: {
      client_name: "Notes & <b>",
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none"
    },
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    redirectToAuthorization: async (address) => {
      returned = await agrees(address, person, answer)
    }
  }
  return {
    provider,
    tokens: () => tokens,
    clientId: () => information?.client_id ?? "",
    returned: () => returned ?? assert.fail("no browser was asked for")
  }
}

/** Connects as an application does: signs in where the server asks for it, and connects again. */
export const connected = async (
  edge: TestEdge,
  address: string,
  app: ReturnType<typeof application>,
  fetch = through(edge)
) => {
  const open = () => {
    const client = new Client({ name: "notes", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } })
    const options = { authProvider: app.provider, fetch }
    return { client, transport: new StreamableHTTPClientTransport(new URL(address), options) }
  }
  const first = open()
  try {
    await first.client.connect(first.transport as never)
    return first.client
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  await first.transport.finishAuth(app.returned().params)
  const second = open()
  await second.client.connect(second.transport as never)
  return second.client
}
