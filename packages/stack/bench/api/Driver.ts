/** The PostgreSQL driver that most people use, for the bare server. It is installed when it is asked for first. */
import { fileURLToPath } from "node:url"
import { installBenchDriver } from "../../../../scripts/install.mjs"

/** A file in the folder from which `pg` can be required. */
export const installed = (): string => {
  installBenchDriver()
  return fileURLToPath(new URL("../../../../tools/bench/package.json", import.meta.url))
}
