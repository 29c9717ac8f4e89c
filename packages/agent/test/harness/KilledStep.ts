/** A process that kills itself at one step of a task: `KilledStep.ts TASK STEP FOLDER`. It says so when the task has come to its end. */
import { files, Steps } from "@catenet/testing/agent/Steps"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, type FileSystem, Redacted } from "effect"
import { join } from "node:path"
import * as StoredLogin from "../../src/login/StoredLogin.ts"
import * as FolderLock from "../../src/state/FolderLock.ts"
import * as ExecutableFile from "../../src/update/ExecutableFile.ts"

const [, , task = "", step = "0", folder = ""] = process.argv
const stored = join(folder, "oidc-token.json")
const login: StoredLogin.StoredLogin = {
  accessToken: Redacted.make("access-1"),
  refreshToken: undefined,
  accessExpiresAt: 1,
  refreshExpiresAt: undefined,
  issuer: "https://login.example/realms/one",
  clientId: "ct-agent-cli",
  controlPlane: undefined
}

const program = ExecutableFile.make(join(folder, "ct-agent"))
const next = { from: "1.0.0", to: "1.1.0", hash: "aa", seconds: 20 }
const content = Buffer.from(`#!/bin/sh\necho "ct-agent 1.1.0"\n`)
const onTrial = Effect.flatMap(program, ({ readTrial }) => readTrial)
const tasks: Readonly<Record<string, Effect.Effect<void, unknown, FileSystem.FileSystem>>> = {
  login: FolderLock.holding(stored)(StoredLogin.write(stored, login)),
  stage: Effect.flatMap(program, ({ stage }) => stage(content, next)),
  replace: Effect.flatMap(program, ({ replace }) => replace(content, next)),
  confirm: Effect.flatMap(program, ({ confirm }) =>
    Effect.flatMap(onTrial, (trial) => (trial === undefined ? Effect.void : confirm(trial)))
  )
}

const steps = new Steps(Number(step), "SIGKILL")
await Effect.runPromise(
  (tasks[task] ?? Effect.die(`there is no task ${task}`)).pipe(
    Effect.provide(files(steps)),
    Effect.provide(NodeFileSystem.layer)
  )
)
process.stdout.write("done")
