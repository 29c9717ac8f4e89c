/** Signing in at the platform's own provider in a browser: a code, a passkey of a virtual authenticator, and signing out everywhere. */
import { until } from "@catenet/testing/Eventually"
import * as Chromium from "@catenet/testing/server/portal/browser/Chromium"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { codeOf, mailTo, platform } from "./Platform.ts"

/** An application that shows its address. */
const application = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => void response.end(`at ${request.url?.split("?")[0]}`))
    server.listen(0, "127.0.0.1", () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
      resume(Effect.succeed({ url, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "120 seconds" })("in a browser", (it) => {
  it.effect.skipIf(Chromium.missing)(
    "a passkey is added after a code, signs in by itself, and ends with its removal",
    () =>
      Effect.gen(function* () {
        const { arrived, restart } = yield* platform
        const app = yield* application
        const idp = yield* restart(app.url)
        const browser = yield* Chromium.launch
        const page = yield* Effect.promise(() => browser.newPage({ locale: "en" }))
        page.setDefaultTimeout(30_000)
        const problems: Array<string> = []
        page.on("console", (message) => problems.push(message.text()))
        page.on("pageerror", (error) => problems.push(error.message))
        const authenticator = yield* Effect.promise(async () => {
          const session = await page.context().newCDPSession(page)
          await session.send("WebAuthn.enable")
          const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
            options: {
              protocol: "ctap2",
              transport: "internal",
              hasResidentKey: true,
              hasUserVerification: true,
              isUserVerified: true,
              automaticPresenceSimulation: true
            }
          })
          return { session, authenticatorId }
        })
        const account = `${idp.issuer}/account`
        yield* Effect.promise(async () => {
          await page.goto(account)
          await page.getByLabel("E-mail").fill("ada@example.test")
          await page.getByRole("button", { name: "E-mail me a code" }).click()
          await page.getByLabel("Code from the e-mail").waitFor()
        })
        const code = codeOf(yield* mailTo(arrived, "ada@example.test"))
        yield* Effect.promise(async () => {
          await page.getByLabel("Code from the e-mail").fill(code)
          await page.getByRole("button", { name: "Sign in" }).click()
          await page.getByRole("button", { name: "Add a passkey" }).click()
          await page.getByText("Added on").waitFor()
          await page.getByRole("button", { name: "Sign out everywhere" }).click()
          await page.getByRole("button", { name: "Use a passkey" }).waitFor()
          // Another application, with the passkey alone.
          const query = new URLSearchParams({
            client_id: "app",
            response_type: "code",
            scope: "openid",
            redirect_uri: app.url
          })
          await page.goto(`${idp.issuer}/protocol/openid-connect/auth?${query}`)
          await page.getByRole("button", { name: "Use a passkey" }).click()
          await page.waitForURL(`${app.url}?code=*`)
          await page.goto(account)
          await page.getByText("used last on").waitFor()
          // Another one is refused for this account by the authenticator itself, and the page says so.
          await page.getByRole("button", { name: "Add a passkey" }).click()
          await page.getByText("The passkey did not work.").waitFor()
          await page.getByRole("button", { name: "Remove" }).click()
          await page.getByText("None yet.").waitFor()
          await page.getByRole("button", { name: "Sign out everywhere" }).click()
          await page.getByRole("button", { name: "Use a passkey" }).click()
          await page.getByText("The passkey did not work.").first().waitFor()
          assert.include(page.url(), "/interaction/")
        })
        const held = yield* Effect.promise(() =>
          authenticator.session.send("WebAuthn.getCredentials", { authenticatorId: authenticator.authenticatorId })
        )
        assert.lengthOf(held.credentials, 1)
        yield* until(
          Effect.sync(() => problems.filter((problem) => !problem.includes("401"))),
          (found) => found.length === 0
        )
      }).pipe(Effect.scoped)
  )
})
