/** `POST /portal/tunnels/bulk`: one action on the tunnels that were ticked in the list. What ends them asks once more. */
import { TunnelChange } from "@catenet/domain/tunnels/Tunnel"
import { TunnelIdInPath } from "@catenet/domain/values/Ids"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Schema } from "effect"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { seeOther, type Submit } from "./Forms.ts"
import { perPage } from "./pages/TunnelSelection.ts"
import * as TunnelsPage from "./pages/TunnelsPage.ts"
import * as Visits from "./shell/Visits.ts"

const idFrom = Schema.decodeSync(TunnelIdInPath)
const isAction = Schema.is(Schema.Literals(TunnelsPage.bulkActions))

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  return {
    "/portal/tunnels/bulk": ({ caller, form, self }) =>
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
          return show(self, TunnelsPage.bulkDelete(self.reader.texts, named))
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
