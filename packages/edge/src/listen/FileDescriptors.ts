/** File descriptors of this process: the limit, and whether one more can be opened. */
import { Files } from "@catenet/platform/Files"

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
}

const isReport = (value: object): value is Report => "userLimits" in value

/** The soft limit; undefined if it is unlimited or unknown. */
export const descriptorLimit = (): number | undefined => {
  const report = process.report.getReport()
  const soft = isReport(report) ? report.userLimits?.open_files?.soft : undefined
  return typeof soft === "number" ? soft : undefined
}

/** Whether one more descriptor can be opened. */
export const canOpen = (): boolean => {
  try {
    Files.closeSync(Files.openSync("/dev/null", "r"))
    return true
  } catch {
    return false
  }
}
