/**
 * Runs a program that ends in an orderly way when the process that started it is gone: the shell between npm and a script
 * ends at a SIGTERM and passes none on.
 */
import { fileURLToPath, pathToFileURL } from "node:url"

const millisBetweenLooks = 500

/** Begins to look after the parent of this process. */
export const followParent = () => {
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    process.kill(process.pid, "SIGTERM")
  }, millisBetweenLooks)
  look.unref()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.argv.splice(1, 1)
  followParent()
  await import(pathToFileURL(process.argv[1]).href)
}
