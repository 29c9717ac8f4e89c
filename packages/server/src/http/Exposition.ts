/** The text format of Prometheus, version 0.0.4: families of samples in, one page out. */

export const contentType = "text/plain; version=0.0.4; charset=utf-8"

export type Labels = Readonly<Record<string, string>>

/** One line: a suffix to the family's name (empty but for histograms), labels and a value. */
export interface Sample {
  readonly suffix?: "_bucket" | "_sum" | "_count"
  readonly labels?: Labels
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  /** One line of plain text. */
  readonly help: string
  readonly samples: ReadonlyArray<Sample>
}

const escapes = new Map([
  ["\\", "\\\\"],
  ['"', '\\"'],
  ["\n", "\\n"]
])
const quoted = (text: string) => `"${text.replace(/[\\"\n]/g, (sign) => escapes.get(sign) ?? sign)}"`

const labelled = (labels: Labels = {}) => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${quoted(value)}`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

const numeral = (value: number) => (value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value))

const lines = ({ help, name, samples, type }: Family) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...samples.map(({ labels, suffix = "", value }) => `${name}${suffix}${labelled(labels)} ${numeral(value)}`)
]

/** The page. Families without samples are left out. */
export const render = (families: ReadonlyArray<Family>): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .flatMap(lines)
    .map((line) => `${line}\n`)
    .join("")
