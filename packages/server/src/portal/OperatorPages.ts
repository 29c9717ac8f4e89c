/** The operators' page and its two forms. Everyone else gets 404 at their addresses. */
import { Limited } from "@catenet/domain/identity/AccountLimits"
import { Subject } from "@catenet/domain/values/Ids"
import { Count } from "@catenet/domain/values/Numbers"
import { maxPerAccount } from "@catenet/domain/values/Quotas"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { Accounts } from "../accounts/Accounts.ts"
import { CertificateQueue } from "../certificates/CertificateQueue.ts"
import { EdgeHealth } from "../edges/EdgeHealth.ts"
import { Edges } from "../edges/Edges.ts"
import { RefusedOrders } from "../edges/RefusedOrders.ts"
import { Audits } from "../identity/Audits.ts"
import { Settings } from "../settings/Settings.ts"
import type * as Addresses from "./Addresses.ts"
import { read, refusedFields, seeOther, sentBack, type Submission, type Submit, wholeNumber } from "./Forms.ts"
import * as OperatorsPage from "./pages/OperatorsPage.ts"
import type { Sent } from "./shell/Field.ts"
import * as Visits from "./shell/Visits.ts"

const home = "/operators"
/** Entries of each list on the page; the API has them all. */
const shown = 50

const readLimit = read(
  Schema.Struct({
    subject: Subject,
    what: Limited,
    max: Schema.Union([
      Schema.Literal(""),
      wholeNumber.pipe(Schema.decodeTo(Count)).check(Schema.isLessThanOrEqualTo(maxPerAccount))
    ])
  })
)

const numberIn = (text: string | null | undefined): number | undefined =>
  /^[1-9]\d{0,14}$/u.test(text ?? "") ? Number(text) : undefined

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const edges = yield* Edges
  const health = yield* EdgeHealth
  const orders = yield* RefusedOrders
  const accounts = yield* Accounts
  const queue = yield* CertificateQueue
  const audits = yield* Audits
  const { channelsPerAccount, hostsPerAccount, portsPerAccount, rulesPerAccount, tunnelsPerAccount } = yield* Settings

  const page = Effect.fnUntraced(function* (self: Visits.Visit, sent?: Sent) {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const before = numberIn(new URL(url, "http://localhost").searchParams.get("before"))
    const facts = yield* Effect.all(
      {
        edges: edges.list({}),
        health: health.all,
        refused: orders.list(shown),
        limited: accounts.limited(shown),
        waiting: queue.list(shown),
        log: audits.list({ limit: shown, ...(before === undefined ? {} : { before }) })
      },
      { concurrency: "unbounded" }
    )
    const defaults = {
      tunnels: tunnelsPerAccount,
      channels: channelsPerAccount,
      ports: portsPerAccount,
      hosts: hostsPerAccount,
      rules: rulesPerAccount
    }
    const older = facts.log.length < shown ? undefined : facts.log.at(-1)?.id
    const body = OperatorsPage.page(self.reader.texts, { ...facts, defaults, older, sent })
    return show(self, body, sent === undefined ? 200 : 400)
  })

  const again = (sent: Submission, refused: ReadonlyArray<string>) => page(sent.self, sentBack(sent, "limit", refused))

  return {
    pages: {
      "/operators": (self: Visits.Member) => page(self)
    } satisfies Readonly<Record<Addresses.OperatorPagePath, unknown>>,
    forms: {
      "/operators/orders/:id/resend": ({ at, caller }) => {
        const id = numberIn(at("id"))
        return id === undefined
          ? Effect.fail(new RouteNotFound())
          : Effect.as(orders.resend(caller.subject, id), seeOther(home))
      },
      "/operators/limits": (sent) =>
        Effect.gen(function* () {
          const { form } = sent
          const { max, subject, what } = yield* readLimit({
            subject: (form["subject"] ?? "").trim(),
            what: form["what"] ?? "",
            max: (form["max"] ?? "").trim()
          })
          yield* accounts.setLimit(subject, what, max === "" ? null : max, sent.caller.subject)
          return seeOther(home)
        }).pipe(Effect.catchTag("MalformedRequest", (refusal) => again(sent, refusedFields(refusal))))
    } satisfies Readonly<Record<Addresses.OperatorFormPath, Submit>>
  }
})
