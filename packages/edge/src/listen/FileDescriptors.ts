/** Open files of this process: the limit as the runtime reports it, and whether there is room for one more. */
import { closeSync, openSync } from "node:fs"

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
}

const isReport = (value: object): value is Report => "userLimits" in value

/** The soft limit; absent where it is unlimited or the platform does not say. */
export const descriptorLimit = (): number | undefined => {
  const report = process.report.getReport()
  const soft = isReport(report) ? report.userLimits?.open_files?.soft : undefined
  return typeof soft === "number" ? soft : undefined
}

/** Whether one more descriptor can be had. */
export const canOpen = (): boolean => {
  try {
    closeSync(openSync("/dev/null", "r"))
    return true
  } catch {
    return false
  }
}
