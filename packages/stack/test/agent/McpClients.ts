/** Clients of MCP as people use them: the official SDK with OAuth, and a person with a browser who signs in and agrees. */
import type { TestEdge } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { type Address, password } from "@catenet/testing/server/gate/SignInServer"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { assert } from "@effect/vitest"
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { request as httpsRequest } from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"
import { join } from "node:path"
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

/** A proxy of the person's network, through which programs of others find the hosts of an edge. Its variables for them. */
export const proxied = (edge: TestEdge) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(temporaryRoot(), "catenet-roots-"))
      const roots = join(folder, "root.pem")
      writeFileSync(roots, edge.wildcardRoot)
      const server = createServer((_, response) => response.writeHead(501).end())
      server.on("connect", (_, visitor: Socket, head: Buffer) => {
        const far = connect(edge.frontDoor, "127.0.0.1", () => {
          visitor.write("HTTP/1.1 200 Connected\r\n\r\n")
          far.write(head)
          visitor.pipe(far).pipe(visitor)
        })
        far.on("error", () => visitor.destroy())
        visitor.on("error", () => far.destroy())
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      const variables = {
        HTTPS_PROXY: `http://127.0.0.1:${port}`,
        NO_PROXY: "127.0.0.1,localhost",
        NODE_USE_ENV_PROXY: "1",
        NODE_EXTRA_CA_CERTS: roots,
        SSL_CERT_FILE: roots
      }
      return { folder, server, variables }
    }),
    ({ folder, server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
        rmSync(folder, { recursive: true, force: true })
      })
  ).pipe(Effect.map(({ variables }) => variables))

/** A program of somebody else, which ends with the scope. */
export const program = (file: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(file, args, { env: { PATH: process.env["PATH"], ...env } })
      let [out, all] = ["", ""]
      child.stdout.on("data", (chunk: Buffer) => void ((out += String(chunk)), (all += String(chunk))))
      child.stderr.on("data", (chunk: Buffer) => void (all += String(chunk)))
      const ended = once(child, "close").then(([code]: ReadonlyArray<unknown>) => code)
      return {
        stdout: () => out,
        all: () => all,
        ended,
        type: (text: string) => void child.stdin.write(text),
        /** What the form's group holds, once it has been written. */
        said: async (form: RegExp) => {
          await eventually(() => form.test(all) || child.exitCode !== null, String(form), 60_000)
          return form.exec(all)?.[1] ?? assert.fail(all)
        },
        kill: () => child.kill("SIGKILL")
      }
    }),
    ({ kill }) => Effect.sync(() => void kill())
  )

/** A person at the pages of a provider: what they write into its forms. */
export interface Person {
  readonly username: string
  readonly password: string
}

const unescaped = (text: string) => text.replaceAll("&amp;", "&").replaceAll("&#38;", "&")

/** The form on a page, filled in: a sign-in, or the question whether somebody agrees. */
const filled = (text: string, { password, username }: Person, answer: "yes" | "no") => {
  if (text.includes('name="password"')) return { username, password }
  const [, code] = /name="code" value="([^"]*)"/u.exec(text) ?? []
  return code === undefined ? { answer } : { code, accept: "Yes" }
}

/** What a person does with the browser to which an application sends it; where the browser is sent in the end. */
export const agrees = async (address: URL, person: Person, answer: "yes" | "no", returnsTo = callback) => {
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
      at = new URL(unescaped(/action="([^"]+)"/u.exec(text)?.[1] ?? assert.fail(text)), at).href
      form = filled(text, person, answer)
    } else {
      at = new URL(location, at).href
      form = undefined
    }
    if (at.startsWith(returnsTo)) return { pages, address: at, params: new URL(at).searchParams }
  }
  return assert.fail(`led in circles: ${at}`)
}

/** An application on somebody's machine, before its first sign-in. */
export const application = (who: Address | Person, answer: "yes" | "no" = "yes") => {
  const person = typeof who === "string" ? { username: who, password } : who
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
