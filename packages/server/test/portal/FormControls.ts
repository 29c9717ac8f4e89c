/** The controls of a form as a browser finds them in a page, and the state of the whole database. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export interface Control {
  readonly kind: string
  readonly name: string
  readonly value: string
  readonly isHidden: boolean
  readonly isChecked: boolean
  readonly isInvalid: boolean
  readonly hasFocus: boolean
  /** The sentence that belongs to the control, and says why it was refused. */
  readonly sentence: string
}

const plain = (text: string) => text.replace(/&#(\d+);/gu, (_, code: string) => String.fromCodePoint(Number(code)))

const attributesOf = (tag: string) =>
  new Map([...tag.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/gu)].map(([, name = "", value = ""]) => [name, plain(value)]))

/** What a page says in the elements that describe a control, where they are errors. */
const sentenceOf = (page: string, described: string) =>
  described
    .split(" ")
    .map((id) => page.split(`<p class="error" id="${id}">`)[1]?.split("</p>")[0] ?? "")
    .join("")

const chosen = (options: string) =>
  attributesOf(/<option\b[^>]* selected>/u.exec(options)?.[0] ?? "").get("value") ?? ""

export const controlsOf = (page: string, form: string): ReadonlyArray<Control> =>
  [...form.matchAll(/<(input|select|textarea|button)\b([^>]*)>([\s\S]*?)(?=<\/select>|<\/textarea>|<|$)/gu)].flatMap(
    ([whole, kind = "", tag = "", content = ""]) => {
      const attributes = attributesOf(tag)
      const name = attributes.get("name")
      if (name === undefined) return []
      const at = form.indexOf(whole)
      const options = kind === "select" ? (form.slice(at).split("</select>")[0] ?? "") : ""
      // An error beside a group of boxes describes the group.
      const group = form.slice(0, at).lastIndexOf("<fieldset")
      const isGrouped = group > form.slice(0, at).lastIndexOf("</fieldset>")
      const fieldset = isGrouped ? attributesOf(form.slice(group).split(">")[0] ?? "") : new Map<string, string>()
      const described = [attributes.get("aria-describedby"), fieldset.get("aria-describedby")].join(" ")
      return [
        {
          kind: attributes.get("type") === "checkbox" ? "checkbox" : kind,
          name,
          value:
            kind === "textarea"
              ? plain(content)
              : kind === "select"
                ? chosen(options)
                : (attributes.get("value") ?? ""),
          isHidden: attributes.get("type") === "hidden",
          isChecked: attributes.has("checked"),
          isInvalid: attributes.get("aria-invalid") === "true",
          hasFocus: attributes.has("autofocus"),
          sentence: sentenceOf(page, described.trim())
        }
      ]
    }
  )

/** Whether a form can be seen: one in a part that opens has to be open. */
export const isShown = (page: string, form: string): boolean => {
  const before = page.slice(0, page.indexOf(form))
  const opened = before.lastIndexOf("<details")
  return opened <= before.lastIndexOf("</details>") || /^<details[^>]* open/u.test(before.slice(opened))
}

/** What changes by itself, or with every request, and holds nothing that a form asks for. */
const restless = new Set([
  "idempotent_answers",
  "portal_sessions",
  "request_counts",
  "edge_nodes",
  "hosts",
  "address_records"
])

/** The rows of each table. */
export const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{
    name: string
  }>`select tablename as name from pg_tables where schemaname = 'public' order by 1`
  const each = tables
    .filter(({ name }) => !restless.has(name))
    .map(
      ({ name }) =>
        `select '${name}' as name, coalesce(string_agg(t::text, chr(10) order by t::text), '') as rows from ${name} t`
    )
  const found = yield* sql.unsafe<{ name: string; rows: string }>(each.join(" union all "))
  return new Map(found.map(({ name, rows }) => [name, rows]))
})

/** Each table that changed, with the rows that are new and those that are gone. */
export const changes = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>
): ReadonlyArray<string> =>
  [...before].flatMap(([name, rows]) => {
    const now = after.get(name) ?? ""
    if (now === rows) return []
    const [were, are] = [new Set(rows.split("\n")), new Set(now.split("\n"))]
    const fresh = [...are].filter((row) => !were.has(row)).map((row) => `+ ${row}`)
    const gone = [...were].filter((row) => !are.has(row)).map((row) => `- ${row}`)
    return [`changed ${name}: ${[...fresh, ...gone].join(" ").slice(0, 1000)}`]
  })
