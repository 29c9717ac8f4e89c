import { OriginAddress, Route } from "@catenet/domain/rules/Route"
import { Rules, StoredRules } from "@catenet/domain/rules/Rules"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const options = { errors: "all", onExcessProperty: "error" } as const
const refusal = (schema: Schema.Codec<unknown, unknown>) => {
  const read = Schema.decodeUnknownResult(schema, options)
  return (value: unknown) => {
    const result = read(value)
    return Result.isFailure(result) ? result.failure.message : undefined
  }
}

const scrypt = "ada:$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g"

describe("rules", () => {
  it("takes every kind as the file spells it", () => {
    const rules = [
      { require_login: true },
      { require_login: { emails: ["a@example.net"], domains: ["example.org"] } },
      { allow: ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"] },
      { rate_limit: { per: "address", rate: "100/1m" } },
      { basic_auth: { file: "./htpasswd" } },
      { basic_auth: { users: [scrypt] } },
      { request_headers: { set: { "X-Env": "prod" }, remove: ["Server"] } },
      { response_headers: { set: { "Strict-Transport-Security": "max-age=31536000" } } },
      { cors: { origins: ["https://app.example.net"] } },
      { redirect: { from: "/old", to: "/new", status: 308 } },
      { max_body: "100 MiB" },
      { mtls: { ca: "./clients.pem" } }
    ]
    assert.isUndefined(refusal(Rules)(rules))
  })

  it.each([
    [{}, "Expected a rule with one of require_login"],
    [{ allow: ["10.0.0.0/8"], max_body: "1 MiB" }, "write a second rule as a second item"],
    [{ allow: ["10.0.0.1/8"] }, "with zeros after its prefix"],
    [{ allowed: [] }, "allowed"],
    [{ rate_limit: { per: "address", rate: "100" } }, "a rate such as 100/1m"],
    [{ rate_limit: { per: "ip", rate: "1/s" } }, "one of address, session, tunnel"],
    [{ require_login: { emails: [] } }, "write require_login: true"],
    [{ basic_auth: { users: ["ada:secret"] } }, "ln from 10 to 15"],
    [{ basic_auth: {} }, "either file or users"],
    [{ request_headers: { set: { Host: "x" } } }, "host_header sets Host"],
    [{ request_headers: { set: { "X-Gate-Email": "root@example.net" } } }, "name the visitor"],
    [{ response_headers: { remove: ["Transfer-Encoding"] } }, "do not frame the message"],
    [{ response_headers: { set: { "X-A": "one\r\nX-B: two" } } }, "printable ASCII"],
    [{ cors: { origins: ["app.example.net"] } }, "an origin such as https://app.example.net"],
    [{ cors: { origins: ["*"], credentials: true } }, "named origins where credentials are allowed"],
    [{ redirect: { from: "old", to: "/new" } }, "a path such as /login"],
    [{ redirect: { from: "/old", to: "//evil.example" } }, "a path, or an address"],
    [{ max_body: "100" }, "a size with its unit"]
  ])("refuses %j with a sentence that says what to write", (rule, sentence) =>
    assert.include(refusal(Rules)([rule]), sentence)
  )

  it("leaves files to the agent", () => {
    assert.include(refusal(StoredRules)([{ mtls: { ca: "a.pem" } }]), "these belong in the agent's file")
    assert.include(refusal(StoredRules)([{ basic_auth: { file: "a" } }]), "these belong in the agent's file")
    assert.isUndefined(refusal(StoredRules)([{ basic_auth: { users: [scrypt] } }]))
  })

  it("takes 64 rules and no more", () => {
    const rules = (count: number) => Array.from({ length: count }, () => ({ max_body: "1 MiB" }))
    assert.isUndefined(refusal(Rules)(rules(64)))
    assert.include(refusal(Rules)(rules(65)), "at most 64 elements")
  })
})

describe("routes", () => {
  it("takes origins alone and in lists, with health and a prefix", () => {
    assert.isUndefined(
      refusal(Route)({
        path: "/v1/*",
        to: ["http://10.0.0.5:8080", "https://10.0.0.6"],
        strip_prefix: "/v1",
        health: { path: "/healthz", every: "10s" }
      })
    )
    for (const to of ["127.0.0.1:3000", "h2c://[::1]:50051", "file:./public", "file:///srv/www", "unix:/run/app.sock"])
      assert.isUndefined(refusal(OriginAddress)(to), to)
  })

  it.each([
    ["3000", "write http://127.0.0.1:3000"],
    ["localhost", "write http://localhost:PORT"],
    ["http://localhost:3000/app", "write http://localhost:3000, and a route with path and strip_prefix"],
    ["http://localhost:99999", "a port from 1 to 65535 instead of 99999"],
    ["ftp://example.net", "http://, https:// or h2c://"],
    ["unix:run/app.sock", "write unix:/run/app.sock"],
    ["./public", "write file:./public"]
  ])("refuses %s with what was meant", (to, sentence) => assert.include(refusal(OriginAddress)(to), sentence))
})
