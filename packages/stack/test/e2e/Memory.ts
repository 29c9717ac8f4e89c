/** Resident memory of a process, from the kernel. */
import { readFileSync } from "node:fs"

const megabytes = (pid: number, field: "VmRSS" | "RssAnon") => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? "0") / 1024
}

export const residentMegabytes = (pid: number): number => megabytes(pid, "VmRSS")

/** Without what is mapped from files, most of all the Node binary, which all Node processes share. */
export const ownMegabytes = (pid: number): number => megabytes(pid, "RssAnon")

/** Looks again and again while a task runs; resolves with the most that each process held above its start. */
export const growthDuring = async <A>(
  pids: Readonly<Record<string, number>>,
  task: Promise<A>
): Promise<{ readonly result: A; readonly growth: Readonly<Record<string, number>> }> => {
  const start = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, residentMegabytes(pid)]))
  const most = { ...start }
  const timer = setInterval(() => {
    for (const [name, pid] of Object.entries(pids)) most[name] = Math.max(most[name] ?? 0, residentMegabytes(pid))
  }, 50)
  try {
    const result = await task
    const growth = Object.fromEntries(Object.keys(pids).map((name) => [name, (most[name] ?? 0) - (start[name] ?? 0)]))
    return { result, growth }
  } finally {
    clearInterval(timer)
  }
}
