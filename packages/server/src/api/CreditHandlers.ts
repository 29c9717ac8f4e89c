/** Handlers of the `billing` and `credits` groups. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Credits } from "../billing/Credits.ts"
import { Payments } from "../billing/Payments.ts"
import { Limits } from "../http/Limits.ts"
import { setRetryAfter } from "../http/RetryAfter.ts"

const billing = HttpApiBuilder.group(
  ControlPlaneApi,
  "billing",
  Effect.fn(function* (handlers) {
    const credits = yield* Credits
    const payments = yield* Payments
    return handlers.handleAll({
      openAccount: ({ headers }) => credits.open(headers["idempotency-key"]),
      getAccount: ({ params }) => credits.get(params.account),
      intendPayment: ({ headers, payload }) => payments.intend("operator", payload, headers["idempotency-key"]),
      getPayment: ({ params }) => payments.get(params.payment),
      issue: ({ headers, payload: { account, idempotency_key, price } }) =>
        credits.issue("operator", account, price, { body: idempotency_key, header: headers["idempotency-key"] })
    })
  })
)

/** Tokens that an account may ask for in a minute, whether it can pay for them or not. */
const issuesPerMinute = 60

const mine = HttpApiBuilder.group(
  ControlPlaneApi,
  "credits",
  Effect.fn(function* (handlers) {
    const credits = yield* Credits
    const limits = yield* Limits
    return handlers.handleAll({
      account: () => Caller.use(({ subject }) => credits.mine(subject)),
      issue: ({ headers, payload: { idempotency_key, price } }) =>
        Caller.use(({ subject }) =>
          limits.take(`issue ${subject}`, issuesPerMinute).pipe(
            Effect.tapErrorTag("RateLimited", setRetryAfter),
            Effect.andThen(credits.mine(subject)),
            Effect.flatMap(({ account }) =>
              credits
                .issue(subject, account, price, { body: idempotency_key, header: headers["idempotency-key"] })
                .pipe(Effect.catchTag("AccountUnknown", (error) => Effect.die(error)))
            )
          )
        ),
      listIssued: ({ query }) => Caller.use(({ subject }) => credits.listIssued(subject, query))
    })
  })
)

export const CreditHandlers = Layer.mergeAll(billing, mine)
