/** The report and the errors of an install (signed-bytes.md 15.2.2). */
import type * as Json from "@catenet/crypto/Json"
import { Data } from "effect"
import { textOf } from "../rpc/Tool.ts"

// Why an install failed: `reason` and `step` for programs, `detail` for people.

/** Rejected before anything was run; nothing is left. */
export class InstallRejected extends Data.TaggedError("InstallRejected")<{
  readonly reason: string
  readonly detail: string
  /** Hash of the manifest in hex, once it was read. */
  readonly manifestId: string | undefined
}> {}

/** The bundle was accepted, but its service did not work. It is removed. */
export class InstallFailed extends Data.TaggedError("InstallFailed")<{
  readonly step: "unpack" | "start" | "verify"
  readonly detail: string
}> {}

/** One program that was run, null for one that still runs. */
export interface Outcome {
  readonly exitCode: number | null
  readonly millis: number
}

/** Which service an install was of. */
export interface Subject {
  readonly manifest_id: string
  readonly publisher_pubkey: string
  readonly project_name: string
}

const outcome = ({ exitCode, millis }: Outcome): Json.Json => ({
  exit_code: exitCode === null ? null : BigInt(exitCode),
  duration_ms: BigInt(Math.round(millis))
})

export const rejected = ({ detail, manifestId, reason }: InstallRejected): Json.Json => ({
  status: "rejected",
  reason,
  detail,
  manifest_id: manifestId ?? null
})

const namesOf = ({ manifest_id, project_name, publisher_pubkey }: Subject) => ({
  manifest_id,
  publisher_pubkey,
  project_name
})

export const failed = (subject: Subject, { detail, step }: InstallFailed): Json.Json => ({
  status: "failed",
  ...namesOf(subject),
  step,
  detail
})

export const isOk = (report: Json.Json): boolean => textOf(report, "status") === "ok"

/** `started` has the name that the contract's first installer gave it. */
export const ok = (subject: Subject, started: Outcome, verify: Outcome, installDir: string): Json.Json => ({
  status: "ok",
  ...namesOf(subject),
  compose_up: outcome(started),
  verify: outcome(verify),
  install_dir: installDir
})
