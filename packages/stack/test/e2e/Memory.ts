/** Resident memory of a process, from the kernel. */
import { readFileSync } from "node:fs"

export const residentMegabytes = (pid: number): number => {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Number(kilobytes) / 1024
}

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
