/** The limit of open files of this process, as the runtime reports it. */

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
