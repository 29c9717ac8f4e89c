/** Names the tests that failed and passed when they were run again, with what they said first: each hides a race or a deadline. */
const mostShown = 8_000

/** The whole of it, as far as it is of use: it cannot be asked for again. */
const shown = (said) =>
  said
    .slice(0, mostShown)
    .split("\n")
    .map((line) => `    ${line}`)

export class SecondAttempts {
  onTestRunEnd(modules) {
    const tests = []
    for (const module of modules)
      for (const test of module.children.allTests()) {
        if (!test.diagnostic()?.flaky) continue
        const said = test.result().errors?.[0]?.message ?? "no error was kept"
        tests.push([`  ${module.relativeModuleId} > ${test.fullName}`, ...shown(said)].join("\n"))
      }
    if (tests.length > 0)
      process.stderr.write(`\nPassed at the second attempt only (${tests.length}):\n${tests.join("\n")}\n`)
  }
}
