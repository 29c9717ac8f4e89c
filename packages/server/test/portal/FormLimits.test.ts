/**
 * What every form of the portal and the gate does with a value beyond its limits: the form comes back with what was typed,
 * the sentence beside its field, the focus on the first, status 400, and nothing has changed. At its limits it is taken.
 */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { browserRoutes } from "../../src/api/BrowserRoutes.ts"
import { servedRoutes } from "../ServedRoutes.ts"
import { englishOn } from "./EnglishWords.ts"
import { changes, controlsOf, everything, isShown } from "./FormControls.ts"
import { type FormRow, tableOf, type Way } from "./FormTable.ts"
import { formsOf, personAt } from "./PersonAtForms.ts"

const variables = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_OPERATORS: "limit-kim",
  CT_CP_UNAUTH_WRITE_PER_MIN: "0",
  CT_BRIDGE_HOLDER_KEY: "a1".repeat(32),
  CT_BRIDGE_NOISE_KEY: "a2".repeat(32)
}
const kim = person("limit-kim")

const furnished = Effect.gen(function* () {
  const made = yield* ask(kim, "/me/tunnels", { name: "limited" })
  const tunnel = String(made.body["id"])
  yield* ask(kim, `/me/tunnels/${tunnel}`, { require_login: true }, { method: "PATCH" })
  const channel = idOf("limited")
  yield* ask(account("limit-kim"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
  yield* ask(account("limit-kim"), `/me/channels/${channel}/members`, materialOf(channel, "limit a"))
  const topology = String((yield* ask(kim, "/me/topologies", {})).body["id"])
  yield* ask(kim, `/me/topologies/${topology}/mode`, { mode: "shortcut" }, { method: "PUT" })
  for (const agent of ["limit a", "limit b", "limit c"])
    yield* ask(kim, `/me/topologies/${topology}/agents`, { agent: keyOf(agent) })
  yield* ask(kim, `/me/topologies/${topology}/edges`, { a: keyOf("limit a"), b: keyOf("limit b") })
  return { tunnel, channel, topology, host: String(made.body["hostname"]) }
})

/** What no text field takes, whatever else it takes. */
const refusedByAll = ["a\u0000b"]

/** The form that was refused, where several have the same address. */
const refusedForm = (page: string, action: string) => {
  const forms = formsOf(page, action)
  return forms.find((form) => form.includes(" aria-invalid")) ?? forms[0] ?? ""
}

/** What a decoder says, which names fields as programs do, in place of a sentence. */
const rawProblems = (page: string): ReadonlyArray<string> =>
  page
    .replaceAll(/<[^>]*>/gu, "\n")
    .split("\n")
    .filter((line) => /\bExpected\b|^\s*[a-z]+_[a-z_]+(?:\.\d+)?: /u.test(line))

interface Wrong {
  readonly field: string
  readonly value: string | undefined
  readonly form: Readonly<Record<string, string>>
}

/** Each wrong value of each field, with what the other fields hold. No value is a box that was not ticked. */
const wrongOf = ({ given, refuses }: Way): ReadonlyArray<Wrong> =>
  Object.entries(refuses).flatMap(([field, values]): ReadonlyArray<Wrong> => {
    if (values.length > 0)
      return [...values, ...refusedByAll].map((value) => ({ field, value, form: { ...given, [field]: value } }))
    const others = Object.entries(given).filter(([name]) => name !== field)
    return [{ field, value: undefined, form: Object.fromEntries(others) }]
  })

layer(server(variables), { excludeTestServices: true, timeout: "120 seconds" })("every form", (it) => {
  it.effect("gives back what was typed with a sentence beside it, and changes nothing", () =>
    Effect.gen(function* () {
      const place = yield* furnished
      const { get, post } = yield* personAt(kim, "de")
      const inEnglish = yield* personAt(kim)
      // Who looks at the page for the first time gets an account.
      yield* get("/portal/account")
      const table = new Map<string, FormRow>(Object.entries<FormRow>(tableOf(place)))
      const served = yield* servedRoutes
      const routes = served.flatMap(([method, path]) => (method === "POST" && path !== "/mcp" ? [path] : []))
      assert.deepStrictEqual([...table.keys()].toSorted(), routes.toSorted())
      // The page of the API describes exactly what browsers can visit.
      const visited = served.filter(
        ([, path]) => /^\/(?:portal|gate|net|me)(?:\/|$)/u.test(path) && !/static|^\/portal\/receipts$/u.test(path)
      )
      assert.sameMembers(
        Object.keys(browserRoutes),
        visited.map((route) => route.join(" "))
      )
      const at = (path: string) =>
        path
          .replace(":id", path.includes("topologies") ? place.topology : place.tunnel)
          .replace(":channel", place.channel)

      const wrong: Array<string> = []
      let before = yield* everything
      for (const [path, row] of table) {
        const action = at(path)
        const fields = new Set([...(row.free ?? []), ...row.ways.flatMap(({ refuses }) => Object.keys(refuses))])
        if (row.ways.length === 0) continue
        const faults = yield* Effect.forEach(
          row.ways.flatMap(wrongOf),
          ({ field, form, value }) =>
            Effect.map(post(action, form), ({ status, text }) => {
              const about = `${path} ${field}=${JSON.stringify(value)?.slice(0, 60)}: `
              const shown = refusedForm(text, action)
              const controls = controlsOf(text, shown)
              const control = controls.find(({ name }) => name === field)
              if (status !== 400) return [`${about}${status}`]
              const english = englishOn(text)
              if (english.length > 0) return [`${about}English: ${english.join("; ")}`]
              if (control === undefined) return [`${about}no field in ${shown.slice(0, 100)}`]
              const named = [...new Set(controls.map(({ name }) => name))].filter((name) => name !== "once")
              const invalid = [...new Set(controls.flatMap(({ isInvalid, name }) => (isInvalid ? [name] : [])))]
              return [
                ...(named.toSorted().join() === [...fields].toSorted().join() ? [] : [`${path} has ${named.join()}`]),
                ...(control.isInvalid && invalid.length === 1 ? [] : [`${about}invalid are ${invalid.join()}`]),
                ...(control.hasFocus && text.split(" autofocus").length === 2 ? [] : [`${about}focus`]),
                ...(control.sentence.length > 10 ? [] : [`${about}no sentence`]),
                ...(isShown(text, shown) ? [] : [`${about}it is closed`]),
                ...controls.flatMap(({ isChecked, isHidden, kind, name, value: kept }) => {
                  const typed = name === field ? value : form[name]
                  // What is not among the choices cannot be chosen again, and no page can hold a NUL.
                  if (isHidden || kind === "button" || typed?.includes("\u0000")) return []
                  if (kind === "select" && name === field) return []
                  const isKept = kind === "checkbox" ? isChecked === (typed !== undefined) : kept === (typed ?? "")
                  return isKept ? [] : [`${about}${name} holds ${kept.slice(0, 60)}`]
                })
              ]
            }),
          { concurrency: 4 }
        )
        wrong.push(...new Set(faults.flat()))
        const ofField = Map.groupBy(row.ways.flatMap(wrongOf), ({ field }) => field)
        for (const [field, [first]] of ofField) {
          const { text } = yield* inEnglish.post(action, first?.form ?? {})
          wrong.push(...rawProblems(text).map((line) => `${path} ${field}: raw problem: ${line}`))
        }
        const after = yield* everything
        wrong.push(...changes(before, after).map((change) => `${path} ${change}`))
        before = after
      }
      assert.deepStrictEqual(wrong, [])

      for (const [path, { ways }] of table)
        for (const { accepts = {}, given } of ways)
          for (const [field, values] of Object.entries(accepts))
            for (const value of values) {
              const taken = yield* post(at(path), { ...given, [field]: value })
              if (taken.status >= 400) wrong.push(`${path} ${field}=${value.slice(0, 60)}: ${taken.status}`)
            }
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide(database))
  )
})
