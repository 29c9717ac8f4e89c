/** A realm on a free port with a fresh folder, and the calls that every test makes. */
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { type IdentityProvider, start } from "../src/IdentityProvider.ts"
import type { RealmOptions } from "../src/RealmOptions.ts"

export const ada = { email: "ada@example.test", password: "correct horse", name: "Ada" }

export const options = (folder: string, port = 0): RealmOptions => ({
  realm: "demo",
  host: "127.0.0.1",
  port,
  folder,
  audience: "catenet",
  users: [ada],
  clients: [
    { clientId: "admin-cli", publicClient: true, directAccessGrantsEnabled: true },
    { clientId: "device", publicClient: true, deviceGrantEnabled: true },
    {
      clientId: "portal",
      secret: "portal-secret",
      standardFlowEnabled: true,
      redirectUris: ["http://127.0.0.1:9/portal/callback"],
      postLogoutRedirectUris: ["http://127.0.0.1:9/portal"]
    },
    {
      clientId: "manager",
      secret: "manager-secret",
      serviceAccountsEnabled: true,
      managementRoles: ["manage-clients", "manage-users"]
    },
    { clientId: "gates", secret: "gate-secret", audience: "gates", serviceAccountsEnabled: true },
    { clientId: "plain", secret: "plain-secret", serviceAccountsEnabled: true }
  ]
})

/** Fresh folders that go with the tests of a file. */
export const useFolder = () => {
  const folders: Array<string> = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    const folder = mkdtempSync(join(temporaryRoot(), "catenet-idp-"))
    folders.push(folder)
    return folder
  }
}

/** Starts a realm for the tests of a file. */
export const useRealm = () => {
  const folder = mkdtempSync(join(temporaryRoot(), "catenet-idp-"))
  const running: { idp?: IdentityProvider } = {}
  beforeAll(async () => {
    running.idp = await start(options(folder))
  })
  afterAll(async () => {
    await running.idp?.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    idp: () => {
      if (running.idp === undefined) throw new Error("The realm is not running")
      return running.idp
    }
  }
}

export const token = (idp: IdentityProvider, form: Record<string, string>) =>
  fetch(`${idp.issuer}/protocol/openid-connect/token`, { method: "POST", body: new URLSearchParams(form) })

export const clientToken = async (idp: IdentityProvider, clientId: string, secret: string): Promise<string> => {
  const response = await token(idp, { grant_type: "client_credentials", client_id: clientId, client_secret: secret })
  const { access_token } = (await response.json()) as { access_token: string }
  return access_token
}

export const admin = (idp: IdentityProvider, bearer: string, method: string, path: string, body?: unknown) =>
  fetch(`${idp.origin}/admin/realms/demo${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

/** A JSON body, for assertions on its fields. */
export const json = (response: Response): Promise<any> => response.json() as Promise<any>
