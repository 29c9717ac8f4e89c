/** The embedded identity provider as a program of its own, on a free port, in a folder that goes with it. */
import { catenet, endsWithUs, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"

export interface IdentityProvider extends AsyncDisposable {
  readonly program: Spawned
  readonly port: number
  /** Of its discovery document. */
  readonly path: string
}

/** Resolves when it is ready. */
export const start = async (more: Readonly<Record<string, string>> = {}): Promise<IdentityProvider> => {
  const folder = mkdtempSync(join(tmpdir(), "catenet-idp-"))
  const port = await Effect.runPromise(freePort("127.0.0.1"))
  const secret = "d".repeat(32)
  const program = catenet(["idp"], {
    ...endsWithUs,
    CT_IDP_LISTEN: `127.0.0.1:${port}`,
    CT_IDP_FOLDER: join(folder, "idp"),
    CT_IDP_PORTAL_URL: "http://localhost:1",
    CT_IDP_PORTAL_CLIENT_SECRET: secret,
    CT_IDP_GATE_CLIENT_SECRET: secret,
    CT_IDP_MANAGER_CLIENT_SECRET: secret,
    CT_IDP_USER_EMAIL: "ann@example.net",
    CT_IDP_USER_PASSWORD: secret,
    ...more
  })
  const dispose = async () => {
    await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  await program.printed("identity provider ready").catch(async (error: unknown) => {
    await dispose()
    throw error
  })
  return { program, port, path: "/realms/catenet/.well-known/openid-configuration", [Symbol.asyncDispose]: dispose }
}
