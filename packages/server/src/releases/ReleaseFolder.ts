/**
 * Lists a folder of releases: a folder for each version with its files. Requests name no path: version and file are
 * looked up in the list.
 */
import * as Asset from "@catenet/crypto/release/Asset"
import { Files } from "@catenet/platform/Files"
import { join } from "node:path"

export interface Release {
  /** Without a leading `v`. */
  readonly version: string
  /** Where each file is, by its name. */
  readonly files: ReadonlyMap<string, string>
}

/** A folder that is still being written has another name, and becomes a version when it is renamed. */
const versionForm = /^v?(\d{1,10}(?:\.\d{1,10}){1,3})$/u
const fileForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u

/** A version as a request or a folder names it; nothing where it is none. */
export const versionOf = (text: string): string | undefined => versionForm.exec(text)?.[1]

const newestFirst = (a: Release, b: Release) => {
  if (Asset.isNewer(a.version, b.version)) return -1
  return Asset.isNewer(b.version, a.version) ? 1 : 0
}

/** The releases, the newest first. Links are not followed. */
export const list = async (folder: string): Promise<ReadonlyArray<Release>> => {
  const releases = new Map<string, Release>()
  for (const entry of await Files.readdir(folder, { withFileTypes: true })) {
    const version = versionOf(entry.name)
    if (version === undefined || !entry.isDirectory()) continue
    const path = join(folder, entry.name)
    const files = await Files.readdir(path, { withFileTypes: true })
    const named = files.filter((file) => file.isFile() && fileForm.test(file.name))
    releases.set(version, { version, files: new Map(named.map(({ name }) => [name, join(path, name)])) })
  }
  return [...releases.values()].sort(newestFirst)
}
