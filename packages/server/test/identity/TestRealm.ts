/**
 * A real identity provider behind a front that a test decides: it passes a call on, refuses it, passes it on and loses
 * the answer, or never answers.
 */
import { Context, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type IdentityProvider, start } from "../../../idp/src/IdentityProvider.ts"

export const realm = "demo"
export const manager = { clientId: "manager", secret: "manager-secret" }
export const administrator = { email: "root@example.test", password: "correct horse" }

export interface Call {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** `lose`: it is carried out and its answer is lost. */
export type Fate = "pass" | "refuse" | "unauthorized" | "lose" | "hang"

const read = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const pass = async (origin: string, request: IncomingMessage, call: Call) => {
  const { authorization, "content-type": type } = request.headers
  return fetch(`${origin}${call.path}`, {
    method: call.method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(type === undefined ? {} : { "content-type": type })
    },
    ...(call.body === "" ? {} : { body: call.body })
  })
}

const relay = async (response: ServerResponse, answer: Response) => {
  const location = answer.headers.get("location")
  response.writeHead(answer.status, {
    "content-type": answer.headers.get("content-type") ?? "text/plain",
    ...(location === null ? {} : { location })
  })
  response.end(await answer.text())
}

const begin = async (folder: string) => {
  const idp = await start({
    realm,
    host: "127.0.0.1",
    port: 0,
    folder,
    audience: "catenet",
    users: [{ ...administrator, managementRoles: ["manage-clients"] }],
    clients: [
      { clientId: "admin-cli", publicClient: true, directAccessGrantsEnabled: true },
      { ...manager, serviceAccountsEnabled: true, managementRoles: ["manage-clients"] }
    ]
  })
  let fate: (call: Call) => Fate = () => "pass"
  const calls: Array<Call> = []
  const front = createServer((request, response) => {
    void read(request).then(async (body) => {
      const call = { method: request.method ?? "", path: request.url ?? "", body }
      calls.push(call)
      switch (fate(call)) {
        case "refuse":
          return response.writeHead(500).end()
        case "unauthorized":
          return response.writeHead(401).end()
        case "hang":
          return undefined
        case "lose":
          await pass(idp.origin, request, call)
          return response.destroy()
        case "pass":
          return relay(response, await pass(idp.origin, request, call))
      }
    })
  })
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve))
  return {
    idp,
    calls,
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    decide: (next: (call: Call) => Fate) => void (fate = next),
    close: async () => {
      front.closeAllConnections()
      await new Promise((resolve) => front.close(resolve))
      await idp.close()
    }
  }
}

export class TestRealm extends Context.Service<
  TestRealm,
  {
    readonly idp: IdentityProvider
    /** Where the front answers. */
    readonly url: string
    /** Every call that reached the front. */
    readonly calls: ReadonlyArray<Call>
    /** What happens to calls from now on. */
    readonly decide: (fate: (call: Call) => Fate) => void
  }
>()("test/TestRealm") {
  static readonly layer = Layer.effect(
    TestRealm,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const folder = mkdtempSync(join(tmpdir(), "catenet-realm-"))
        return { folder, ...(await begin(folder)) }
      }),
      ({ close, folder }) =>
        Effect.promise(async () => {
          await close()
          rmSync(folder, { recursive: true, force: true })
        })
    )
  )
}

/** The variables of a server that administers the realm by its own client. */
export const variables = Effect.map(TestRealm, ({ url }) => ({
  KEYCLOAK_PUBLIC_URL: url,
  CT_OIDC_REALM: realm,
  CT_OIDC_ADMIN_CLIENT_ID: manager.clientId,
  CT_OIDC_ADMIN_CLIENT_SECRET: manager.secret,
  CT_CP_SERVICE_ACCOUNT_TICK_SECS: "1"
}))

/** The clients that stand for service accounts, by their own ids. */
export const clients = Effect.flatMap(TestRealm, ({ idp }) =>
  Effect.map(
    Effect.promise(() => idp.store.clients()),
    (all) => all.map(({ clientId }) => clientId).filter((id) => id.startsWith("sa-"))
  )
)

/** Signs in as a client and answers the status. */
export const login = (clientId: string, secret: string) =>
  Effect.flatMap(TestRealm, ({ idp }) =>
    Effect.promise(async () => {
      const form = { grant_type: "client_credentials", client_id: clientId, client_secret: secret }
      const body = new URLSearchParams(form)
      const response = await fetch(`${idp.issuer}/protocol/openid-connect/token`, { method: "POST", body })
      return {
        status: response.status,
        token: ((await response.json()) as { access_token?: string }).access_token ?? ""
      }
    })
  )
