/** Folders of one file of tests, which go with it. */
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"

/** To be called once, before the first test; each call of what it returns makes another folder. */
export const temporaryFolders = (prefix: string): (() => string) => {
  const made: Array<string> = []
  afterAll(() => {
    for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  })
  return () => {
    const folder = mkdtempSync(join(temporaryRoot(), prefix))
    made.push(folder)
    return folder
  }
}
