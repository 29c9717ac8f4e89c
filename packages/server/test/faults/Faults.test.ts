/**
 * The same scenario twice: once undisturbed, once while replicas, the database and the identity provider are killed in
 * the middle of their work. Both leave the same behind: nothing is lost, nothing is there twice, nothing is left over at
 * the provider or at the edge. `FAULT_KILLS` says how many of each kind, `FAULT_RUNS` how often, `FAULT_SEED` which.
 */
import type { Victim } from "@catenet/testing/server/faults/Program"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import * as Generator from "../fuzz/Generator.ts"
import * as Client from "./Client.ts"
import * as Deployment from "./Deployment.ts"
import * as EndState from "./EndState.ts"
import * as Postgres from "./Postgres.ts"
import * as Scenario from "./Scenario.ts"

const kills = Number(process.env["FAULT_KILLS"] ?? 1)
const runs = Number(process.env["FAULT_RUNS"] ?? 1)
const firstSeed = Number(process.env["FAULT_SEED"] ?? 1)

const kinds = ["server", "postgres", "provider"] as const

interface Kill {
  readonly kind: (typeof kinds)[number]
  readonly step: number
  readonly delay: number
}

/** What is sent on: a replica that dies then owes somebody an answer. */
const leadsOn = {
  server: /^POST \/me\/tunnels$|^DELETE \/me\/tunnels\/…$|provision-tunnel|authorize-host|\/access$/,
  postgres: /./,
  provider: /service-accounts/
}

/** Half of the deaths come while something is sent on. */
const plan = (seed: number, steps: ReadonlyArray<string>): ReadonlyArray<Kill> => {
  const random = Generator.random(seed)
  const asking = (kind: Kill["kind"]) => steps.flatMap((name, step) => (leadsOn[kind].test(name) ? [step] : []))
  return kinds.flatMap((kind) =>
    Array.from({ length: kills }, (_, n) => ({
      kind,
      step: n % 2 === 0 ? random.pick(asking(kind)) : random.below(steps.length),
      delay: random.below(40)
    }))
  )
}

type Deployment = Effect.Success<ReturnType<typeof Deployment.make>>

/** Plays the scenario in a deployment, and answers what it has left behind, with the names of what was given by chance. */
const outcome = (deployment: Deployment, beside: Parameters<typeof Client.make>[0]["beside"]) =>
  Effect.gen(function* () {
    const client = yield* Client.make({
      urls: deployment.servers.map(({ url }) => url),
      credentials: deployment.credentials,
      beside
    })
    const names = new Map<string, string>()
    yield* Scenario.play(client, deployment.party, names)
    return { client, names }
  })

/** The audit log holds every change, so a repeated request is in it again, and so is a change that was undone. */
const isRepeatable = (line: string) => line.startsWith("audit_log ")
const isUndoing = (line: string) => line.includes('"service_account_kept"')

/** The lines that the others have not, or not so often. */
const without = (lines: ReadonlyArray<string>, others: ReadonlyArray<string>) => {
  const left = [...others]
  return lines.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

const compare = (plain: ReadonlyArray<string>, shaken: ReadonlyArray<string>, repeats: number) => {
  const others = (lines: ReadonlyArray<string>) => lines.filter((line) => !isRepeatable(line))
  assert.deepStrictEqual(
    { lost: without(others(plain), shaken), added: without(others(shaken), plain) },
    { lost: [], added: [] }
  )
  const logged = shaken.filter((line) => isRepeatable(line) && !isUndoing(line))
  assert.deepStrictEqual([...new Set(logged)], [...new Set(plain.filter(isRepeatable))])
  assert.isAtMost(logged.length - plain.filter(isRepeatable).length, repeats)
}

layer(Layer.empty, { excludeTestServices: true })("whatever is killed", (it) => {
  it.effect(
    `leaves what was asked for, once, after ${kills} kills of each kind, ${runs} times from seed ${firstSeed}`,
    () =>
      Effect.gen(function* () {
        const postgres = yield* Postgres.make
        const quiet = yield* Deployment.make(postgres, "quiet", 1)
        const undisturbed = yield* outcome(quiet, () => Effect.void)
        const left = yield* EndState.read(quiet.leftBehind)
        for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
          const planned = plan(seed, undisturbed.client.steps)
          yield* Effect.gen(function* () {
            const deployment = yield* Deployment.make(postgres, `shaken_${seed}`, 2)
            const scope = yield* Effect.scope
            const strikes: Array<Fiber.Fiber<void>> = []
            const victimOf = ({ kind }: Kill, replica: number): Victim | undefined =>
              ({ server: deployment.servers[replica], postgres, provider: deployment.provider })[kind]
            const disturbed = yield* outcome(deployment, (step, replica) =>
              Effect.gen(function* () {
                for (const kill of planned.filter((each) => each.step === step)) {
                  const strike = victimOf(kill, replica)?.strike ?? Effect.void
                  strikes.push(yield* Effect.forkIn(Effect.delay(strike, `${kill.delay} millis`), scope))
                }
              })
            )
            yield* Fiber.joinAll(strikes)
            assert.deepStrictEqual(disturbed.client.faults, [])
            const shaken = yield* EndState.read(deployment.leftBehind)
            const certain = EndState.valuesOf(left).intersection(EndState.valuesOf(shaken))
            compare(
              EndState.linesOf(left, undisturbed.names, certain),
              EndState.linesOf(shaken, disturbed.names, certain),
              yield* disturbed.client.repeats
            )
            yield* Effect.logInfo(`seed ${seed}: the same, after ${yield* disturbed.client.repeats} repeated requests`)
          }).pipe(
            Effect.scoped,
            Effect.tapCause(() => Effect.logError("seed", seed, planned))
          )
        }
      }).pipe(Effect.scoped),
    180_000 + runs * (120_000 + 60_000 * kills)
  )
})
