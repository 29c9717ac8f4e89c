import { ready } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { ended, home, login, running, stack } from "./AccountStack.ts"

const olga = "olga@example.test" as const
const fileIn = (path: string) => join(path, ".ct-agent", "oidc-token.json")
const stored = (path: string) => JSON.parse(readFileSync(fileIn(path), "utf8")) as Record<string, unknown>
const expire = (path: string) =>
  writeFileSync(fileIn(path), JSON.stringify({ ...stored(path), access_expires_at: 1 }), { mode: 0o600 })

/** A server that holds every request, and says when the first has come. */
const holding = Effect.acquireRelease(
  Effect.promise(async () => {
    const asked = Promise.withResolvers<void>()
    let answer: RequestListener = () => asked.resolve()
    const server = createServer((request, response) => answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const set = (next: RequestListener) => {
      answer = next
    }
    return { url, asked: asked.promise, set, close: () => (server.closeAllConnections(), void server.close()) }
  }),
  ({ close }) => Effect.sync(close)
)

layer(stack, { concurrent: true, excludeTestServices: true, timeout: "120 seconds" })(
  "a user without the portal",
  (it) => {
    it.effect(
      "logs in from an empty home by the provider that the control plane names, is refreshed, shared, killed, and left",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const url = yield* TestServer.baseUrl
          const before = yield* ended(at, ["whoami"])
          assert.strictEqual(before.code, 3)
          assert.include(before.stderr, "ct-agent login")

          const agent = yield* login(at, olga, [url])
          assert.strictEqual(agent.stdout(), "")
          assert.include(agent.lines.join("\n"), fileIn(at.path))
          assert.strictEqual(statSync(fileIn(at.path)).mode & 0o777, 0o600)
          assert.deepStrictEqual(readdirSync(join(at.path, ".ct-agent")).toSorted(), [
            "oidc-token.json",
            "oidc-token.json.lock"
          ])
          const first = stored(at.path)
          assert.strictEqual(first["control_plane"], url)
          assert.strictEqual(first["client_id"], "ct-agent-cli")

          yield* ready
          const self = yield* ended(at, ["whoami", "--json"])
          assert.strictEqual(self.code, 0, self.stderr)
          const { subject, ...facts } = JSON.parse(self.stdout) as Record<string, unknown>
          assert.isString(subject)
          assert.include(facts, { email: olga, control_plane: url, issuer: first["issuer"], credential: "stored" })
          assert.include((yield* ended(at, ["whoami"])).stdout, `subject       = ${String(subject)}\n`)

          // The login alone says where the directory is, and whose agent it is.
          const card = yield* ended(at, ["channel", "agent-card"], {
            CT_CHANNEL_HOLDER_KEY: "3f".repeat(32),
            CT_AGENT_CARD_ROLES: "writer",
            CT_AGENT_CARD_URL: "https://olga.example/card.json"
          })
          assert.include(card.stderr, `The card is registered in the directory of ${url}`)
          const listed = yield* ended(at, ["channel", "directory"])
          assert.match(listed.stdout, /^[0-9a-f]{64} {2}\S+Z {2}writer {2}https:\/\/olga\.example\/card\.json\n$/u)

          // The provider takes back all tokens of a login whose refresh token is used twice: only one process uses it.
          expire(at.path)
          const both = yield* Effect.all([ended(at, ["whoami"]), ended(at, ["whoami"]), ended(at, ["whoami"])], {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(
            both.map(({ code }) => code),
            [0, 0, 0],
            both.map(({ stderr }) => stderr).join("\n")
          )
          const second = stored(at.path)
          assert.notStrictEqual(second["access_token"], first["access_token"])
          assert.strictEqual(second["control_plane"], url)

          // A second login that is killed while a person is asked leaves the first one good.
          const killed = yield* running(at, ["login", url])
          yield* Effect.promise(() => killed.said("Waiting for the confirmation"))
          killed.kill("SIGKILL")
          yield* Effect.promise(() => killed.exited)
          assert.deepStrictEqual(stored(at.path), second)
          expire(at.path)
          assert.strictEqual((yield* ended(at, ["whoami"])).code, 0)

          const left = yield* ended(at, ["logout"])
          assert.strictEqual(left.code, 0, left.stderr)
          assert.notInclude(left.stderr, "was not informed")
          assert.isFalse(existsSync(fileIn(at.path)))
          assert.strictEqual((yield* ended(at, ["whoami"])).code, 3)
          // The provider has ended it as well.
          writeFileSync(fileIn(at.path), JSON.stringify({ ...second, access_expires_at: 1 }), { mode: 0o600 })
          const gone = yield* ended(at, ["whoami"])
          assert.strictEqual(gone.code, 4)
          assert.include(gone.stderr, "invalid_grant")
          assert.isNull(stored(at.path)["refresh_token"])
          assert.notInclude(gone.stderr + left.stderr, String(second["refresh_token"]))
        })
    )

    it.effect("whose login is killed while it waits for any answer keeps what was stored before", () =>
      Effect.gen(function* () {
        const at = yield* home
        const old = {
          access_token: "old",
          refresh_token: "old refresh",
          access_expires_at: 1,
          refresh_expires_at: null,
          issuer: "",
          client_id: "ct-agent-cli"
        }
        const device = {
          device_code: "d",
          user_code: "ABCD",
          verification_uri: "https://idp.example/device",
          interval: 1
        }
        const cases = [
          { args: ["login"], until: "/token", from: "CT_OIDC_ISSUER" },
          { args: ["whoami"], until: "/token", from: "CT_AGENT_CP_URL" },
          { args: ["logout"], until: "/revoke", from: "CT_AGENT_CP_URL" }
        ]
        yield* Effect.forEach(
          cases,
          ({ args, from, until }) =>
            Effect.gen(function* () {
              const own = yield* home
              const server = yield* holding
              const asked = Promise.withResolvers<void>()
              server.set((request, response) => {
                if (request.url?.includes(until) === true) return asked.resolve()
                response.end(JSON.stringify(device))
              })
              const file = join(own.path, "login.json")
              writeFileSync(file, JSON.stringify({ ...old, issuer: server.url }), { mode: 0o600 })
              const before = readFileSync(file, "utf8")
              const env = { CT_AGENT_LOGIN_TOKEN_FILE: file, [from]: server.url }
              const agent = yield* running(own, args, env)
              yield* Effect.promise(() => asked.promise)
              agent.kill("SIGKILL")
              yield* Effect.promise(() => agent.exited)
              assert.strictEqual(readFileSync(file, "utf8"), before, `${args[0]} at ${until}`)
              // The lock of the dead process keeps no other from going on.
              if (args[0] === "whoami") {
                server.set((request, response) =>
                  response.end(
                    request.url?.includes("/token") === true
                      ? JSON.stringify({ access_token: "new", expires_in: 300 })
                      : JSON.stringify({ account: "a".repeat(32), balance: 0, subject: "olga" })
                  )
                )
                const again = yield* ended(own, ["whoami", "--json"], env)
                assert.strictEqual(JSON.parse(readFileSync(file, "utf8")).access_token, "new", again.stderr)
                assert.strictEqual(JSON.parse(readFileSync(file, "utf8")).refresh_token, "old refresh")
              }
            }),
          { concurrency: 2 }
        )
        assert.isFalse(existsSync(fileIn(at.path)))
      })
    )

    it.effect("is refused a login with the right exit code when nothing or nonsense is named", () =>
      Effect.gen(function* () {
        const at = yield* home
        const server = yield* holding
        server.set((_request, response) => response.writeHead(404).end())
        const all = yield* Effect.all(
          [
            ended(at, ["login"]),
            ended(at, ["login", "portal.example"]),
            ended(at, ["login", "http://127.0.0.1:1"]),
            ended(at, ["login", server.url]),
            ended(at, ["login"], { CT_OIDC_ISSUER: server.url })
          ],
          { concurrency: 2 }
        )
        assert.deepStrictEqual(
          all.map(({ code }) => code),
          [3, 2, 5, 3, 4],
          all.map(({ stderr }) => stderr).join("\n")
        )
        for (const { stderr, stdout } of all) {
          assert.strictEqual(stdout, "")
          assert.match(stderr.split("\n").at(-1) ?? "", /^Error: .*\.$/)
        }
      })
    )
  }
)
