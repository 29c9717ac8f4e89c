/** How many connections the limit of open files allows; a child process has the same limit as this one. */

/** Descriptors that a process needs beside those of its connections. */
const spare = 300

/** `wanted`, or as many as a process can hold `each` descriptors for; says so when they are fewer. */
export const allowed = (wanted: number, each: number): number => {
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } } } =
    process.report.getReport()
  const limit = Number(report.userLimits?.open_files?.soft)
  const count = Number.isNaN(limit) ? wanted : Math.min(wanted, Math.floor((limit - spare) / each))
  if (count < wanted)
    process.stderr.write(`The limit of ${limit} open files allows ${count}, not ${wanted}; \`ulimit -n\` raises it.\n`)
  return count
}
