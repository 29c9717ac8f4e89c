import { server } from "@catenet/testing/server/Accounts"
import * as Contract from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"

const ada = { bearer: "ada" }
const bob = { bearer: "bob" }
const role = { service: "TextGeneration", units: 2, tag: "writer" }
const whole = {
  id: "flappy-demo",
  roles: [
    { ...role, selection_policy: null },
    { service: { Custom: "Art" }, units: 3, tag: "art", selection_policy: "RoundRobin" }
  ],
  operator_pubkey_hex: "11".repeat(32),
  selection_policy: "LeastCalls"
}
const spec = (id: string, roles: ReadonlyArray<unknown> = [role]) => ({ spec: { id, roles } })
const at = (id: string) => ({ at: { id } })
const largest = `{"spec":{"id":"large","roles":[{"service":"SafetyCheck","units":18446744073709551615,"tag":"t"}]}}`

const rows: ReadonlyArray<Contract.Row> = [
  { call: "list", status: 200, answer: [] },
  { call: "publish", as: ada, body: { spec: whole }, status: 200 },
  { call: "get", ...at("flappy-demo"), status: 200, answer: whole },
  { call: "publish", as: ada, body: { spec: { ...whole, id: "a.second" } }, status: 200 },
  { call: "publish", as: ada, body: largest, status: 200, because: "units reach 2^64-1" },
  { call: "publish", as: bob, body: spec("flappy-demo"), status: 403, code: "NotPipelineOwner" },
  { call: "get", ...at("flappy-demo"), status: 200, answer: whole, because: "a refusal changes nothing" },
  { call: "publish", as: ada, body: spec("flappy-demo"), status: 200, because: "the owner replaces it" },
  {
    call: "get",
    ...at("flappy-demo"),
    status: 200,
    answer: {
      id: "flappy-demo",
      roles: [{ ...role, selection_policy: null }],
      operator_pubkey_hex: null,
      selection_policy: "LowestFloor"
    }
  },
  { call: "publish", as: ada, body: spec("x", [role, role]), status: 400, code: "RoleTagRepeated" },
  { call: "publish", as: ada, body: spec("x", [{ ...role, units: 0 }]), status: 400, code: "RoleWithoutUnits" },
  {
    call: "publish",
    as: bob,
    body: spec("flappy-demo", [role, role]),
    status: 400,
    code: "RoleTagRepeated",
    because: "the specification is checked before the owner"
  },
  { call: "publish", as: ada, body: spec("no blanks"), status: 400, code: "MalformedRequest" },
  { call: "publish", as: ada, body: spec("x", []), status: 422, code: "WrongShape" },
  { call: "publish", as: ada, body: spec("x", [{ ...role, units: -1 }]), status: 422, code: "WrongShape" },
  { call: "publish", as: ada, body: spec("x", [{ ...role, service: "Magic" }]), status: 422, code: "WrongShape" },
  { call: "publishFor", as: "operator", body: spec("house"), status: 200 },
  { call: "publishFor", as: "operator", body: { owner: "bob", ...spec("for-bob") }, status: 200 },
  { call: "publishFor", as: "operator", body: spec("flappy-demo"), status: 409, code: "PipelineIdTaken" },
  { call: "publishFor", as: "operator", body: spec("x", [role, role]), status: 400, code: "RoleTagRepeated" },
  {
    call: "publishFor",
    as: "operator",
    body: spec("x", [{ ...role, units: 0 }]),
    status: 400,
    code: "RoleWithoutUnits"
  },
  { call: "publish", as: bob, body: spec("for-bob"), status: 200, because: "an operator published it in his name" },
  {
    call: "list",
    status: 200,
    answer: [
      { id: "a.second", owner: "ada" },
      { id: "flappy-demo", owner: "ada" },
      { id: "for-bob", owner: "bob" },
      { id: "house", owner: "operator" },
      { id: "large", owner: "ada" }
    ]
  },
  { call: "list", query: "?limit=1", status: 200, answer: [{ id: "a.second", owner: "ada" }] },
  { call: "listOwn", as: bob, status: 200, answer: [{ id: "for-bob", owner: "bob" }] },
  { call: "withdraw", as: bob, ...at("flappy-demo"), status: 403, code: "NotPipelineOwner" },
  { call: "withdraw", as: bob, ...at("unknown"), status: 404, code: "PipelineNotFound" },
  { call: "withdraw", as: bob, ...at("for-bob"), status: 200 },
  { call: "withdraw", as: bob, ...at("for-bob"), status: 404, code: "PipelineNotFound" },
  { call: "withdraw", as: bob, ...at("no%20blanks"), status: 400, code: "MalformedRequest" },
  { call: "publish", as: ada, body: spec("for-bob"), status: 200, because: "a withdrawn id is free" },
  { call: "get", ...at("unknown"), status: 404, code: "PipelineNotFound" },
  { call: "get", ...at("no%20blanks"), status: 400, code: "MalformedRequest" }
]

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("pipelines", (it) => {
  it.effect("answer as declared", () => Contract.hold("pipelines", ada, rows))
})
