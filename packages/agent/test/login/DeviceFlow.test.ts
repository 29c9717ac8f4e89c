import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as DeviceFlow from "../../src/login/DeviceFlow.ts"
import * as StubProvider from "../harness/StubProvider.ts"

const issuer = "https://idp.example/realms/demo"
const device = {
  device_code: "the device",
  user_code: "ABCD-EFGH",
  verification_uri: "https://idp.example/device",
  expires_in: 60
}
const tokens = { access_token: "access", refresh_token: "refresh", expires_in: 300, refresh_expires_in: 1800 }
const problem = (error: string): StubProvider.Said => ({ status: 400, body: { error } })

/** Runs the flow against these answers of the token endpoint; the last one repeats. Says when each was asked for. */
const flow = (answers: ReadonlyArray<StubProvider.Said | undefined>, first: unknown = device) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    const forms: Array<URLSearchParams> = []
    const clock = yield* TestClock.testClockWith((test) => Effect.succeed(test))
    const provider = StubProvider.layer(({ form, url }) => {
      if (url.endsWith("/auth/device")) return { status: 200, body: first }
      times.push(clock.currentTimeMillisUnsafe() / 1000)
      forms.push(form)
      return answers[Math.min(times.length, answers.length) - 1]
    })
    const asked = { issuer: `${issuer}/`, clientId: "ct-agent-cli", controlPlane: undefined }
    const fiber = yield* Effect.forkChild(
      Effect.provide(
        DeviceFlow.run(asked, () => Effect.void),
        provider
      )
    )
    for (let second = 0; second < 700; second++) yield* TestClock.adjust("1 second")
    return { exit: yield* Fiber.await(fiber), times, forms }
  })

const failureOf = (exit: Exit.Exit<unknown, { readonly message: string; readonly _tag: string }>) => {
  const found = Exit.findErrorOption(exit)
  return found._tag === "Some" ? found.value : assert.fail("it did not fail")
}

describe("a login by device", () => {
  it.effect("asks at the interval, 5 s without one and 5 s more after slow_down, until a person has confirmed", () =>
    Effect.gen(function* () {
      const pending = problem("authorization_pending")
      const { exit, forms, times } = yield* flow([
        pending,
        problem("slow_down"),
        pending,
        { status: 200, body: tokens }
      ])
      assert.deepStrictEqual(times, [5, 10, 20, 30])
      assert.deepStrictEqual(Object.fromEntries(forms[0] ?? []), {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: "the device",
        client_id: "ct-agent-cli"
      })
      if (Exit.isFailure(exit)) return assert.fail(String(exit.cause))
      const { accessExpiresAt, accessToken, refreshExpiresAt, refreshToken } = exit.value
      assert.strictEqual(Redacted.value(accessToken), "access")
      assert.strictEqual(refreshToken === undefined ? "" : Redacted.value(refreshToken), "refresh")
      assert.deepStrictEqual([accessExpiresAt, refreshExpiresAt], [330, 1830])
    })
  )

  it.effect("waits for a provider that is away, answers 5xx or nothing, for as long as the code is good", () =>
    Effect.gen(function* () {
      const { exit, times } = yield* flow([
        { status: 503, body: "" },
        undefined,
        { status: 200, body: "not JSON" },
        { status: 200, body: { access_token: "access" } }
      ])
      // 15 s are the bound of an answer that does not come.
      assert.deepStrictEqual(times, [5, 10, 30, 35])
      assert.isTrue(Exit.isSuccess(exit))
    })
  )

  it.effect(
    "ends with a sentence when it is declined, when the code ends by either's word, and by any other error",
    () =>
      Effect.gen(function* () {
        for (const [said, words] of [
          [problem("access_denied"), "declined"],
          [problem("expired_token"), "was not confirmed in time"],
          [problem("authorization_pending"), "was not confirmed in time"],
          [problem("__proto__"), "refused the login"],
          [{ status: 404, body: "<html>" }, "answered 404"],
          [
            { status: 400, body: { error: "x", error_description: `a\n\u001b[31m${"b".repeat(9999)}` } },
            "answered 400: x, a"
          ]
        ] as const) {
          const { exit, times } = yield* flow([said])
          const failure = failureOf(exit)
          assert.strictEqual(failure._tag, "Refused")
          assert.include(failure.message, words)
          assert.isBelow(failure.message.length, 500)
          for (const control of ["\n", "\u001b"]) assert.notInclude(failure.message, control)
          assert.isBelow(times.length, 13)
        }
      })
  )

  it.effect("ends when the code does, not at the next turn to ask", () =>
    Effect.gen(function* () {
      const ended = yield* Effect.forkChild(
        DeviceFlow.run({ issuer, clientId: "ct-agent-cli", controlPlane: undefined }, () => Effect.void).pipe(
          Effect.provide(
            StubProvider.layer(({ url }) =>
              url.endsWith("/auth/device")
                ? { status: 200, body: { ...device, interval: 30, expires_in: 40 } }
                : problem("authorization_pending")
            )
          )
        )
      )
      for (let second = 0; second < 39; second++) yield* TestClock.adjust("1 second")
      assert.isUndefined(ended.pollUnsafe())
      for (let second = 0; second < 2; second++) yield* TestClock.adjust("1 second")
      assert.include(failureOf(ended.pollUnsafe() ?? assert.fail("it waits on")).message, "not confirmed in time")
    })
  )

  it.effect("believes no answer that would harm a terminal, and asks a hasty provider once a second at most", () =>
    Effect.gen(function* () {
      for (const bad of [
        { ...device, user_code: "A\u001b]0;x\u0007" },
        { ...device, verification_uri: "javascript:alert(1)" },
        { ...device, verification_uri: "https://idp.example/\nopen" },
        { ...device, interval: -1 },
        { ...device, interval: "5" },
        { ...device, device_code: undefined },
        [],
        "text"
      ]) {
        const { exit, times } = yield* flow([problem("authorization_pending")], bad)
        assert.strictEqual(failureOf(exit)._tag, "Unreachable", JSON.stringify(bad))
        assert.lengthOf(times, 0)
      }
      const hasty = yield* flow([problem("authorization_pending")], { ...device, interval: 0, expires_in: 10 })
      assert.lengthOf(hasty.times, 9)
    })
  )

  it.effect("says what to correct when there is no login for this client", () =>
    Effect.gen(function* () {
      const asked = { issuer, clientId: "other", controlPlane: undefined }
      const provider = StubProvider.layer(() => ({ status: 401, body: { error: "invalid_client" } }))
      const result = yield* Effect.result(
        Effect.provide(
          DeviceFlow.run(asked, () => Effect.void),
          provider
        )
      )
      const { message } = Result.isFailure(result) ? result.failure : assert.fail("it did not fail")
      for (const word of ["invalid_client", "CT_OIDC_CLI_CLIENT_ID", issuer]) assert.include(message, word)
    })
  )
})
