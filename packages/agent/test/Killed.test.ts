/** A process that is killed (SIGKILL) while it updates or stores a login: the old thing works, or the new one does. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Redacted } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as StoredLogin from "../src/login/StoredLogin.ts"
import { decode, placesOf } from "../src/update/TrialFiles.ts"
import { temporaryFolders } from "./harness/TemporaryFolders.ts"
import { programOf } from "./update/ReleaseServer.ts"

const newFolder = temporaryFolders("catenet-killed-")

/** Each step in the campaign; in the gate, where each costs a process, every so many of them. */
const stride = process.env["CATENET_UPDATES"] === "1" ? 1 : 5

const killedAt = (task: string, step: number, folder: string) =>
  new Promise<string>((resolve, reject) => {
    const args = [join(import.meta.dirname, "harness/KilledStep.ts"), task, String(step), folder]
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error === null && stdout === "done") resolve("done")
      else if (error?.signal === "SIGKILL") resolve("killed")
      else reject(new Error(`step ${step} of ${task}: ${stderr}`))
    })
  })

/** Kills the task at each step, in a folder of its own, until it comes to its end; returns at how many. */
const atEachStep = async (
  task: string,
  before: (folder: string) => void,
  after: (folder: string, where: string) => void
) => {
  for (let step = 0, kills = 0; step < 60; step += stride) {
    const folder = newFolder()
    before(folder)
    const end = await killedAt(task, step, folder)
    after(folder, `${task}, step ${step}`)
    rmSync(folder, { recursive: true })
    if (end === "done") return kills
    kills++
  }
  return assert.fail(`${task} has no end`)
}

const versionOf = (path: string) => execFileSync(path, ["--version"], { encoding: "utf8" }).trim()

describe.skipIf(process.platform === "win32")("SIGKILL", () => {
  const install = (folder: string) => writeFileSync(join(folder, "ct-agent"), programOf("1.0.0"), { mode: 0o755 })
  const fetched = (folder: string) => {
    install(folder)
    const { next, trial } = placesOf(join(folder, "ct-agent"))
    writeFileSync(next, programOf("1.1.0"), { mode: 0o755 })
    const note = { from: "1.0.0", to: "1.1.0", digest: "aa", seconds: 20, starts: 1, said: false }
    writeFileSync(trial, JSON.stringify(note))
  }
  /** What is in the place of the program runs, and the note of a trial is whole. */
  const isWhole = (versions: ReadonlyArray<string>) => (folder: string, where: string) => {
    const path = join(folder, "ct-agent")
    const { next, old, trial } = placesOf(path)
    assert.include(versions, versionOf(path), where)
    if (existsSync(trial)) assert.isDefined(decode(readFileSync(trial, "utf8")), where)
    if (existsSync(next)) assert.strictEqual(versionOf(next), "ct-agent 1.1.0", where)
    if (existsSync(old)) assert.strictEqual(versionOf(old), "ct-agent 1.0.0", where)
    // A new version in place has the old one beside it for as long as its note is there.
    if (existsSync(trial) && versionOf(path) === "ct-agent 1.1.0" && versions.length === 2)
      assert.isTrue(existsSync(old) || where.startsWith("confirm"), where)
  }

  it.concurrent("leaves the old program in place while a newer one is fetched", async () => {
    assert.isAbove(await atEachStep("stage", install, isWhole(["ct-agent 1.0.0"])), 1)
  })

  it.concurrent("leaves a whole program while one is replaced by hand, or has registered", async () => {
    const either = isWhole(["ct-agent 1.0.0", "ct-agent 1.1.0"])
    assert.isAbove(await atEachStep("replace", install, either), 1)
    assert.isAbove(await atEachStep("confirm", fetched, either), 0)
  })

  it.concurrent("leaves the old login or the new one, whole and in one file that is used", async () => {
    const read = (folder: string) =>
      Effect.runPromise(Effect.provide(StoredLogin.read(join(folder, "oidc-token.json")), NodeFileSystem.layer))
    const before = (folder: string) => {
      const file = { access_token: "access-0", issuer: "https://login.example/realms/one", client_id: "ct-agent-cli" }
      writeFileSync(join(folder, "oidc-token.json"), JSON.stringify(file), { mode: 0o600 })
    }
    const found: Array<Promise<string>> = []
    const kills = await atEachStep("login", before, (folder) => {
      const text = readFileSync(join(folder, "oidc-token.json"))
      const copy = newFolder()
      writeFileSync(join(copy, "oidc-token.json"), text, { mode: 0o600 })
      found.push(read(copy).then((login) => (login === undefined ? "none" : Redacted.value(login.accessToken))))
    })
    const tokens = await Promise.all(found)
    for (const token of tokens) assert.include(["access-0", "access-1"], token)
    assert.strictEqual(tokens.at(-1), "access-1")
    assert.isAbove(kills, 0)
  })
})
