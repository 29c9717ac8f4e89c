import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Result } from "effect"
import { login } from "../../src/settings/LoginVariables.ts"

const parse = (raw: Readonly<Record<string, string>>) =>
  Effect.runSync(
    Effect.result(
      VariableReader.read(login, { sources: [ConfigProvider.fromUnknown(raw, { preserveEmptyStrings: true })] })
    ).pipe(Effect.provide(NodeFileSystem.layer))
  )

describe("a variable of login", () => {
  it.each([
    ["CT_OIDC_ISSUER", "issuer", undefined, " https://idp.example/realms/a/ ", "https://idp.example/realms/a"],
    ["CT_OIDC_CLI_CLIENT_ID", "client", "ct-agent-cli", " other ", "other"],
    ["CT_AGENT_LOGIN_TOKEN_FILE", "loginFile", undefined, " /a/b ", "/a/b"],
    ["CT_AGENT_STATE_DIR", "stateDir", undefined, "state", "state"],
    ["CT_AGENT_CP_URL", "controlPlane", undefined, "https://portal.example/", "https://portal.example"]
  ] as const)("%s has its default when absent or blank, and its value trimmed", (name, key, absent, given, value) => {
    for (const raw of [{}, { [name]: "" }, { [name]: "  " }])
      assert.strictEqual(Result.getOrThrow(parse(raw))[key], absent)
    assert.strictEqual(Result.getOrThrow(parse({ [name]: given }))[key], value)
  })

  it.each(["CT_OIDC_ISSUER", "CT_AGENT_CP_URL"])("%s is refused by name when it is no address", (name) => {
    for (const bad of ["idp.example", "ftp://idp.example", "https://idp.example/?a=b", "https://idp.example/#a"]) {
      const result = parse({ [name]: bad })
      assert.match(Result.isFailure(result) ? result.failure.message : "accepted", new RegExp(`^${name} is not .*\\.$`))
    }
  })
})
