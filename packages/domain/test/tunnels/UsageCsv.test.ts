import { quoted, usageCsv } from "@catenet/domain/tunnels/Usage"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, often } from "../values/history.ts"

/** Reads one line of CSV: quoted fields with doubled quotes, and bare ones. */
const read = (line: string): ReadonlyArray<string> => {
  const fields: Array<string> = []
  let i = 0
  do {
    let field = ""
    if (line[i] === '"') {
      for (i++; line[i] !== '"' || line[i + 1] === '"'; i++) {
        if (line[i] === '"') i++
        field += line[i]
        if (i > line.length) assert.fail("an open quote")
      }
      i++
    } else while (i < line.length && line[i] !== ",") field += line[i++]
    fields.push(field)
  } while (line[i++] === ",")
  return fields
}

const Text = Schema.Array(Schema.Literals(["a", '"', ",", "\r", "\n", "=", "+", "-", "@", " ", "\t", "é", ";"])).pipe(
  Schema.check(Schema.isMaxLength(8))
)
const figures = { uptime_30d_pct: 98.76, sessions_30d: 3, bytes_in_30d: 10, bytes_out_30d: 2 ** 40 }
const silent = { uptime_30d_pct: null, sessions_30d: null, bytes_in_30d: null, bytes_out_30d: null }

describe("the usage table as CSV", () => {
  it("has a header, raw figures, empty ones without history, and CRLF everywhere", () => {
    assert.strictEqual(
      usageCsv([
        { tunnel: "cam", hostname: "cam.example", ...figures },
        { tunnel: "new", hostname: null, ...silent }
      ]),
      "tunnel,hostname,uptime_30d_pct,sessions_30d,bytes_in_30d,bytes_out_30d\r\n" +
        '"cam","cam.example",98.8,3,10,1099511627776\r\n"new","",,,,\r\n'
    )
    const zeros = { uptime_30d_pct: 0, sessions_30d: 0, bytes_in_30d: 0, bytes_out_30d: 0 }
    assert.include(usageCsv([{ tunnel: "x", hostname: null, ...zeros }]), '"x","",0.0,0,0,0\r\n')
  })

  it("makes formulas harmless", () => {
    for (const text of ["=cmd", "+1", "-1", "@SUM(A1)", "|x", "%0", " =1", "\t=1", "＝1", "\u00a0=1"])
      assert.strictEqual(read(quoted(text))[0]?.[0], "'", text)
    for (const text of ["cam", "a=b", "'x", ""]) assert.strictEqual(quoted(text), `"${text}"`)
    assert.strictEqual(quoted("\r\n=1"), `"'=1"`)
  })

  it.prop(
    "is read back field by field, and no field can begin a formula",
    [Text, Text, between(0, 1000)],
    ([name, host, n]) => {
      const [tunnel, hostname] = [name.join(""), host.join("")]
      const lines = usageCsv([{ tunnel, hostname, ...figures, sessions_30d: n }]).split("\r\n")
      assert.strictEqual(lines.length, 3)
      const fields = read(lines[1] ?? "")
      assert.strictEqual(fields.length, 6)
      for (const [i, text] of [tunnel, hostname].entries()) {
        const line = text.replace(/[\r\n]/g, "")
        assert.include([line, `'${line}`], fields[i])
        assert.notMatch(fields[i] ?? "", /^[\s]*[=+\-@]/)
      }
      assert.deepStrictEqual(fields.slice(2), ["98.8", `${n}`, "10", "1099511627776"])
    },
    often
  )
})
