import { server } from "@catenet/testing/server/Accounts"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
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
const search = (query: string, holders: ReadonlyArray<string>): Row =>
  row("search", 200, { query, because: `${query} finds ${holders.map((holder) => holder[0]).join()}` })
const token = key("7")

const rows: ReadonlyArray<Row> = [
  row("search", 200, { answer: [] }),
  { ...register(key("b"), { role_tags: ["art", "sound"], skill_ids: ["paint"] }), status: 200 },
  { ...register(key("A")), status: 200, because: "keys are kept lower-case" },
  { ...register(key("c"), { card_url: "http://agent.example/" }), status: 400, code: "MalformedRequest" },
  { ...register(key("c"), { role_tags: ["two\nlines"] }), status: 400, code: "MalformedRequest" },
  { ...register("c"), status: 400, code: "MalformedRequest" },
  { ...register(key("c"), { role_tags: "art" }), status: 422, code: "WrongShape" },
  search("", [key("a"), key("b")]),
  row("search", 200, { query: "?role=ar", answer: [], because: "a token matches as a whole" }),
  row("search", 200, { query: "?role=art&skill=swim", answer: [], because: "both must match" }),
  row("search", "400 MalformedRequest", { query: "?role=" }),
  row("enlist", 200, { as: ada, body: enlistedBy("card-ada", "contract") }),
  row("enlist", "400 DirectoryProofRefused", {
    as: ada,
    body: enlistedBy("card-bob", "contract"),
    because: "the proof is for another account"
  }),
  row("listOwn", 200, { as: { bearer: "card-bob" }, answer: [] }),
  row("unlist", "404 AgentNotListed", { as: ada, at: { holder: key("b") } }),
  row("unlist", "400 MalformedRequest", { as: ada, at: { holder: "b" } }),
  row("unlist", 200, { as: ada, at: { holder: keyOf("contract") } }),
  row("get", "404 AgentNotListed", { at: { holder: key("c") } }),
  row("get", "400 MalformedRequest", { at: { holder: "c" } }),
  row("get", 200, { at: { holder: key("A") } }),
  row("registerRendezvous", 200, { as: "operator", body: { token, tenant: "t", agent: "a" } }),
  row("registerRendezvous", 200, { as: "operator", body: { token, tenant: "t", agent: "b" } }),
  row("registerRendezvous", "400 MalformedRequest", { as: "operator", body: { token: "7", tenant: "t", agent: "b" } }),
  row("resolveRendezvous", 200, { at: { token }, answer: { tenant: "t", agent: "b" } }),
  row("resolveRendezvous", "404 RouteNotFound", { at: { token: key("8") } }),
  row("resolveRendezvous", "400 MalformedRequest", { at: { token: "7" } })
]

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the directory", (it) => {
  it.effect("answers as declared", () => hold("directory", ada, rows))
})
