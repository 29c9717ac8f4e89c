/** `POST /portal/tunnels/bulk`: one action on the tunnels that were ticked in the list. What ends them asks once more. */
import { type Tunnel, TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { TunnelIdInPath } from "@catenet/domain/values/Ids"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { type Markup, markup } from "@catenet/platform/Markup"
import { Effect, Schema } from "effect"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { seeOther, type Submit } from "./Forms.ts"
import { perPage } from "./pages/TunnelSelection.ts"
import { icon } from "./shell/Icons.ts"
import type { Page } from "./shell/Shell.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"

const path = "/portal/tunnels/bulk"
const actions = ["login-on", "login-off", "delete"] as const

/** The form is not around the table: its boxes name it. */
const id = "bulk"

/** Of a row of the list. */
export const box = (texts: Texts, { hostname, id: tunnel, name }: Tunnel): Markup =>
  markup`<input type="checkbox" form="${id}" name="${tunnel}" value="1" aria-label="${texts.chooseNamed(hostname ?? name)}">`

export const bar = (texts: Texts): Markup =>
  markup`<form class="bulk" id="${id}" method="post" action="${path}" data-bulk>${actions.map(
    (action) =>
      markup`<button name="action" value="${action}"${action === "delete" ? markup` class="danger"` : undefined}>${texts.bulkActions[action]}</button>`
  )}<span class="soft small">${texts.bulkHint}</span></form>`

const asking = (texts: Texts, tunnels: ReadonlyArray<Tunnel>): Page => ({
  title: texts.bulkDelete(tunnels.length),
  area: "tunnels",
  crumbs: [["/portal/tunnels", texts.tunnels]],
  main: markup`<section class="panel danger-zone narrow-page"><header><h1>${texts.bulkDelete(tunnels.length)}</h1></header>
    <form class="pad" method="post" action="${path}"><ul class="plain">${tunnels.map(
      (tunnel) =>
        markup`<li class="mono">${tunnel.hostname ?? tunnel.name}<input type="hidden" name="${tunnel.id}" value="1"></li>`
    )}</ul><p class="soft">${texts.deleteText}</p><input type="hidden" name="confirm" value="1">
      <p class="row"><button class="danger" name="action" value="delete">${icon("warning")}${texts.bulkDelete(tunnels.length)}</button><a class="button" href="/portal/tunnels">${texts.cancel}</a></p></form></section>`
})

const idFrom = Schema.decodeSync(TunnelIdInPath)
const isAction = Schema.is(Schema.Literals(actions))

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  return {
    [path]: ({ caller, form, self }) =>
      Effect.gen(function* () {
        const { action } = form
        const chosen = Object.entries(form)
          .flatMap(([name, value]) => (/^[0-9a-f]{32}$/u.test(name) && value === "1" ? [idFrom(name)] : []))
          .slice(0, perPage)
        if (!isAction(action) || chosen.length === 0)
          return yield* new MalformedRequest({ errors: [{ path: ["action"], message: "Expected a choice" }] })
        // One of another account's is found before anything is changed.
        yield* Effect.forEach(chosen, (each) => tunnels.owned(each, caller), { discard: true })
        if (action === "delete" && form["confirm"] === undefined) {
          const named = yield* Effect.forEach(chosen, (each) => tunnels.get(caller, each), { concurrency: 4 })
          return show(self, asking(self.reader.texts, named))
        }
        yield* Effect.forEach(
          chosen,
          (each) =>
            action === "delete"
              ? tunnels.remove(caller, each)
              : tunnels.change(caller, each, new TunnelChange({ require_login: action === "login-on" })),
          { discard: true }
        )
        return seeOther("/portal/tunnels")
      })
  } satisfies Readonly<Record<string, Submit>>
})
