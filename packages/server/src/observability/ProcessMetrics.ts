/** What the operating system says about this process. The one place that asks it. */
import type { Family } from "@catenet/domain/values/PrometheusText"
import process from "node:process"

const single = (name: string, type: "counter" | "gauge", help: string, value: number): Family => ({
  name,
  type,
  help,
  samples: [{ value }]
})

/** The customary families; `startedAt` is in unix seconds. */
export const families = (startedAt: number): ReadonlyArray<Family> => {
  const { system, user } = process.cpuUsage()
  const { heapUsed, rss } = process.memoryUsage()
  return [
    single("process_cpu_seconds_total", "counter", "User and system processor time.", (system + user) / 1e6),
    single("process_resident_memory_bytes", "gauge", "Resident memory.", rss),
    single("process_start_time_seconds", "gauge", "Start of the process, in unix seconds.", startedAt),
    single("nodejs_heap_used_bytes", "gauge", "Memory used by the heap.", heapUsed)
  ]
}
