/** Maintains the certificate: at startup, then at the time that the last outcome asks for, with some jitter. */
import { timeText } from "@catenet/domain/values/Format"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Cause, Clock, Effect, Random } from "effect"
import type { Refused, StateUnusable, Unreachable } from "../Failure.ts"
import * as FileWatcher from "../state/FileWatcher.ts"
import * as Folder from "./CertificateFolder.ts"
import type { Options } from "./CertificateOptions.ts"
import * as CertificateProgress from "./CertificateProgress.ts"
import * as Certificates from "./Certificates.ts"
import { type Outcome, pause } from "./RenewalSchedule.ts"

const failed = (error: Refused | StateUnusable | Unreachable): Outcome => ({
  _tag: "Failed",
  sentence: error.message,
  retryAfter: undefined,
  haste: error._tag === "StateUnusable" ? "disk" : "offer",
  isUnreachable: error._tag === "Unreachable",
  isUnanswered: error._tag === "Unreachable"
})

/** A fault of this agent's own must not be the end of renewals. */
const faulty: Outcome = {
  _tag: "Failed",
  sentence: "This agent has a fault, which its log describes.",
  retryAfter: undefined,
  haste: "offer",
  isUnreachable: false,
  isUnanswered: false
}

const at = (millis: number) => `${timeText(toUnixSeconds(millis))} UTC`

/** Continues "the certificate". `next` is the time of the next check. */
const describe = (outcome: Outcome, next: number, failed: string): string => {
  switch (outcome._tag) {
    case "Waiting":
      return `cannot be ordered yet: the name is ${CertificateProgress.tierText(outcome.status)}; it ${outcome.note}`
    case "Failed":
      return `${failed}: ${outcome.sentence} The next attempt is at ${at(next)}`
    default:
      return `is there until ${at(outcome.until)}, and is renewed from ${at(outcome.dueAt)} on`
  }
}

const notLookedAfter = "could not be looked after"

/** Another process that orders in this folder will be done soon. */
const elsewhere: Outcome = {
  _tag: "Waiting",
  status: "gelb",
  note: "is maintained by another process on this machine",
  isTurn: true
}

/** After a loss was repaired, the next one waits this long, because CAs limit the number of certificates. */
const replacedEvery = "10 minutes"

/** Waits until two checks a second apart find a file of the pair missing. */
const lost = Effect.fnUntraced(function* ({ places }: Options) {
  const change = yield* FileWatcher.make(Folder.filesOf(places))
  let missed = (yield* Folder.isThere(places)) ? 0 : 1
  while (missed < 2) {
    yield* missed === 0 ? change : Effect.sleep("1 second")
    missed = (yield* Folder.isThere(places)) ? 0 : missed + 1
  }
}, Effect.scoped)

/** Sleeps until the time is over or the pair is lost, and returns whether it was lost. `isHeld`: it existed a moment ago. */
const rest = Effect.fnUntraced(function* (options: Options, seconds: number, hasLost: boolean, isHeld: boolean) {
  const sleeping = Effect.as(Effect.sleep(`${seconds} seconds`), false)
  // There is none to lose.
  if (!isHeld && !(yield* Folder.isThere(options.places))) return yield* sleeping
  const losing = hasLost ? Effect.delay(lost(options), replacedEvery) : lost(options)
  return yield* Effect.raceFirst(sleeping, Effect.as(losing, true))
})

/** Checks once. Returns how it ended, and what was not done after a failure; continues "the certificate". */
const look = (options: Options) =>
  Effect.match(Certificates.look(options), {
    onSuccess: (found): readonly [Outcome, string] => [found ?? elsewhere, "was not issued"],
    onFailure: (error): readonly [Outcome, string] => [failed(error), notLookedAfter]
  }).pipe(
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a fault in looking after the certificate", Cause.die(defect)), [
        faulty,
        notLookedAfter
      ] as const)
    )
  )

export const run = Effect.fnUntraced(function* (options: Options) {
  let last: Outcome["_tag"] | undefined
  let times = 0
  let hasLost = false
  let isGone = false
  while (true) {
    const [outcome, verb] = yield* look(options)
    times = outcome._tag === last ? times + 1 : 0
    last = outcome._tag
    // Never earlier, because the CA named the time.
    const seconds = pause(outcome, times) * (1 + 0.1 * (yield* Random.next))
    const isHeld = outcome._tag === "Current" || outcome._tag === "Issued"
    if (isHeld) isGone = false
    const message = describe(outcome, (yield* Clock.currentTimeMillis) + seconds * 1000, verb)
    const text = isGone ? `has lost its files; another one ${message}` : message
    if (options.progress !== undefined)
      yield* options.progress.report(text, outcome._tag === "Failed" ? Effect.logWarning : Effect.logInfo)
    if (!(yield* rest(options, seconds, hasLost, isHeld))) continue
    hasLost = true
    isGone = true
    if (options.progress !== undefined)
      yield* options.progress.report("has lost its files; another one is to be ordered at once", Effect.logWarning)
  }
})
