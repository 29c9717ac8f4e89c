/** The agent's bundle, with the keys whose releases it updates itself to. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { findNode, root } from "../node.mjs"

/** Builds into a folder of `work`, which it returns. `keys` are 64 hex digits each, between commas. */
export const buildAgent = (work, keys) => {
  const out = join(work, "built")
  const options = [join(root, "scripts", "build.mjs"), "--out", out, "--release-keys", keys, "ct-agent"]
  const { status } = spawnSync(findNode(), options, { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
  if (status !== 0) throw new Error("the agent cannot be built")
  return join(out, "ct-agent")
}
