/** Programs as they are published, which start in a third of the time that their sources take. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../../..")
const programs = join(root, "node_modules", ".cache", "catenet", "programs")

/** The variable that tells tests where a program is. */
const variableOf = { "ct-agent": "CATENET_TEST_AGENT", catenet: "CATENET_TEST_PLATFORM" } as const
type Program = keyof typeof variableOf

/** Gives the tests these programs, in the variables of this process. The platform brings the agent along, as it serves its package. */
export const give = (...needed: ReadonlyArray<Program>) => {
  // Another project of the same run may have built one.
  const wanted = needed.filter((program) => process.env[variableOf[program]] === undefined)
  if (wanted.length === 0) return
  const fresh = join(programs, `new-${process.pid}`)
  mkdirSync(programs, { recursive: true })
  const args = [join(root, "scripts", "build.mjs"), "--out", fresh, ...wanted]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })
  if (status !== 0) throw new Error(`${wanted.join(" and ")} could not be built: ${stderr}`)
  // By its content: another run may use the one of yesterday, and what Node has compiled of it stays.
  const hash = createHash("sha256")
  for (const program of wanted) {
    for (const file of globSync("*.js", { cwd: join(fresh, program) }).sort())
      hash.update(file).update(readFileSync(join(fresh, program, file)))
    const folder = join(programs, hash.copy().digest("hex").slice(0, 16))
    if (!existsSync(folder)) renameSync(join(fresh, program), folder)
    process.env[variableOf[program]] = join(folder, `${program}.js`)
  }
  rmSync(fresh, { recursive: true, force: true })
}
