/** Starts the program as its launcher does on an older Node; with `child`, on one that cannot replace itself. */
import { fileURLToPath } from "node:url"
import { exec } from "../../../../scripts/exec.mjs"

const [how, ...args] = process.argv.slice(2)
if (how === "child") process.execve = undefined
exec(
  process.execPath,
  process.env.CATENET_TEST_AGENT ?? fileURLToPath(new URL("../../src/main.ts", import.meta.url)),
  args
)
