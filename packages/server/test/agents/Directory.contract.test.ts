import { server } from "@catenet/testing/server/Accounts"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as Contract from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"
import { enlistedBy } from "./Enlisting.ts"

const ada = { bearer: "card-ada" }
const key = (digit: string) => digit.repeat(64)
const card_url = "https://agent.example/.well-known/agent-card.json"
const register = (holder_pubkey: string, more: object = {}) => ({
  call: "register",
  as: "operator" as const,
  body: { holder_pubkey, card_url, ...more }
})
const search = (query: string, holders: ReadonlyArray<string>): Contract.Row => ({
  call: "search",
  query,
  status: 200,
  because: `${query} finds ${holders.map((holder) => holder[0]).join()}`
})
const token = key("7")

const rows: ReadonlyArray<Contract.Row> = [
  { call: "search", status: 200, answer: [] },
  { ...register(key("b"), { role_tags: ["art", "sound"], skill_ids: ["paint"] }), status: 200 },
  { ...register(key("A")), status: 200, because: "keys are kept lower-case" },
  { ...register(key("c"), { card_url: "http://agent.example/" }), status: 400, code: "MalformedRequest" },
  { ...register(key("c"), { role_tags: ["two\nlines"] }), status: 400, code: "MalformedRequest" },
  { ...register("c"), status: 400, code: "MalformedRequest" },
  { ...register(key("c"), { role_tags: "art" }), status: 422, code: "WrongShape" },
  search("", [key("a"), key("b")]),
  { call: "search", query: "?role=ar", status: 200, answer: [], because: "a token matches as a whole" },
  { call: "search", query: "?role=art&skill=swim", status: 200, answer: [], because: "both must match" },
  { call: "search", query: "?role=", status: 400, code: "MalformedRequest" },
  { call: "enlist", as: ada, body: enlistedBy("card-ada", "contract"), status: 200 },
  {
    call: "enlist",
    as: ada,
    body: enlistedBy("card-bob", "contract"),
    status: 400,
    code: "DirectoryProofRefused",
    because: "the proof is for another account"
  },
  { call: "listOwn", as: { bearer: "card-bob" }, status: 200, answer: [] },
  { call: "unlist", as: ada, at: { holder: key("b") }, status: 404, code: "AgentNotListed" },
  { call: "unlist", as: ada, at: { holder: "b" }, status: 400, code: "MalformedRequest" },
  { call: "unlist", as: ada, at: { holder: keyOf("contract") }, status: 200 },
  { call: "get", at: { holder: key("c") }, status: 404, code: "AgentNotListed" },
  { call: "get", at: { holder: "c" }, status: 400, code: "MalformedRequest" },
  { call: "get", at: { holder: key("A") }, status: 200 },
  { call: "registerRendezvous", as: "operator", body: { token, tenant: "t", agent: "a" }, status: 200 },
  { call: "registerRendezvous", as: "operator", body: { token, tenant: "t", agent: "b" }, status: 200 },
  {
    call: "registerRendezvous",
    as: "operator",
    body: { token: "7", tenant: "t", agent: "b" },
    status: 400,
    code: "MalformedRequest"
  },
  { call: "resolveRendezvous", at: { token }, status: 200, answer: { tenant: "t", agent: "b" } },
  { call: "resolveRendezvous", at: { token: key("8") }, status: 404, code: "RouteNotFound" },
  { call: "resolveRendezvous", at: { token: "7" }, status: 400, code: "MalformedRequest" }
]

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the directory", (it) => {
  it.effect("answers as declared", () => Contract.hold("directory", ada, rows))
})
