import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as DatabaseUrl from "../src/DatabaseUrl.ts"
import * as NetworkParser from "../src/NetworkParser.ts"
import * as Parser from "../src/Parser.ts"
import * as SecretParser from "../src/SecretParser.ts"

const hex = "Ab".repeat(32)
const other = "01".repeat(32)
const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"

/** What a secret holds, so that values can be compared. */
const shown = (value: unknown): unknown =>
  Redacted.isRedacted(value) ? shown(Redacted.value(value)) : Array.isArray(value) ? value.map(shown) : value

interface Rule {
  readonly parser: Parser.Parser<unknown>
  readonly valid: ReadonlyArray<readonly [text: string, value: unknown]>
  readonly invalid: ReadonlyArray<string>
}

const rules: Readonly<Record<string, Rule>> = {
  text: { parser: Parser.text, valid: [["a b", "a b"]], invalid: [] },
  path: { parser: Parser.path, valid: [["/a/b", "/a/b"]], invalid: [] },
  writablePath: {
    parser: Parser.writablePath,
    valid: [
      ["/a/proc", "/a/proc"],
      ["/process", "/process"],
      ["proc/a", "proc/a"]
    ],
    invalid: ["/proc", "/proc/x", "//proc/x/y"]
  },
  whole: {
    parser: Parser.whole(2, 500),
    valid: [
      ["2", 2],
      ["500", 500]
    ],
    invalid: ["1", "501", "-2", "2.5", "0x2", "two", "9".repeat(16)]
  },
  port: {
    parser: Parser.port,
    valid: [
      ["1", 1],
      ["65535", 65_535]
    ],
    invalid: ["0", "65536"]
  },
  flag: {
    parser: Parser.flag,
    valid: [
      ["1", true],
      ["TRUE", true],
      ["0", false],
      ["False", false]
    ],
    invalid: ["yes", "off", "2"]
  },
  flagUnless: {
    parser: Parser.flagUnless("0", "off"),
    valid: [
      ["0", false],
      ["OFF", false],
      ["no", true],
      ["1", true]
    ],
    invalid: []
  },
  cap: {
    parser: Parser.cap("none"),
    valid: [
      ["0", Infinity],
      ["None", Infinity],
      ["12", 12]
    ],
    invalid: ["off", "-1", "many", "1".repeat(10)]
  },
  literal: {
    parser: Parser.literal("tcp", "udp"),
    valid: [["UDP", "udp"]],
    invalid: ["http"]
  },
  list: { parser: Parser.list, valid: [[" a, ,b ,", ["a", "b"]]], invalid: [] },
  mailbox: {
    parser: NetworkParser.mailbox,
    valid: [
      ["no-reply@example.com", "no-reply@example.com"],
      [`${"a".repeat(64)}@localhost`, `${"a".repeat(64)}@localhost`]
    ],
    invalid: [
      "example.com",
      "@example.com",
      "a@",
      "a@b..c",
      "a b@example.com",
      `${"a".repeat(65)}@b.example`,
      "a@b\nc: d"
    ]
  },
  mailServerUrl: {
    parser: SecretParser.mailServerUrl,
    valid: [
      ["smtps://mail.example.com", "smtps://mail.example.com"],
      ["smtp://user:pass%40word@mail.example.com:587/", "smtp://user:pass%40word@mail.example.com:587/"]
    ],
    invalid: [
      "mail.example.com",
      "https://mail.example.com",
      "smtp://user@mail.example.com",
      "smtp://mail.example.com/path",
      "smtp://mail.example.com?a=b",
      "smtp://user:pass%0aword@mail.example.com",
      "smtp://user:%zz@mail.example.com"
    ]
  },
  certificates: {
    parser: SecretParser.certificates,
    valid: [
      [pem, pem],
      [`${pem}\n${pem}`, `${pem}\n${pem}`]
    ],
    invalid: ["MIIB", `${pem}x`, pem.replace("END", "end"), pem.replace("MIIB", "MI_B")]
  },
  address: {
    parser: NetworkParser.address,
    valid: [
      ["[::1]:1", { host: "::1", port: 1 }],
      ["name.example:65535", { host: "name.example", port: 65_535 }],
      ["0.0.0.0:0", { host: "0.0.0.0", port: 0 }]
    ],
    invalid: ["8443", "name", ":80", "::1:80", "name:65536", "a b:80", "[:::]:80", "[1.2.3.4]:80", "a@b:80", "a/b:80"]
  },
  addresses: {
    parser: NetworkParser.addresses,
    valid: [
      [
        "a:1, [::1]:2",
        [
          { host: "a", port: 1 },
          { host: "::1", port: 2 }
        ]
      ]
    ],
    invalid: ["a:1,", "a"]
  },
  ip: {
    parser: NetworkParser.ip,
    valid: [
      ["192.0.2.1", "192.0.2.1"],
      ["2001:db8::1", "2001:db8::1"]
    ],
    invalid: ["example.org", "192.0.2.1:80", "192.0.2.1/32"]
  },
  ipAddresses: {
    parser: NetworkParser.ipAddresses,
    valid: [["192.0.2.1 ,::1", ["192.0.2.1", "::1"]]],
    invalid: ["fe80::1%eth0", "192.0.2.1,", "a"]
  },
  resolvers: {
    parser: NetworkParser.resolvers,
    valid: [["192.0.2.1:53", [{ host: "192.0.2.1", port: 53 }]]],
    invalid: ["name:53", "192.0.2.1:0", "192.0.2.1"]
  },
  networks: {
    parser: NetworkParser.networks,
    valid: [["192.0.2.1,10.0.0.0/8,::1", ["192.0.2.1/32", "10.0.0.0/8", "::1/128"]]],
    invalid: ["10.0.0.0/33", "name", "10.0.0.0/8,"]
  },
  url: {
    parser: NetworkParser.url,
    valid: [["https://a.example/b", new URL("https://a.example/b")]],
    invalid: ["a.example", "ftp://a.example"]
  },
  urlText: { parser: NetworkParser.urlText, valid: [["https://A.example", "https://A.example"]], invalid: ["a"] },
  contact: {
    parser: NetworkParser.contact,
    valid: [["mailto:a@b.example", "mailto:a@b.example"]],
    invalid: ["a@b.example", "http://b.example"]
  },
  secret: { parser: SecretParser.secret, valid: [["anything", "anything"]], invalid: [] },
  secretHex: {
    parser: SecretParser.secretHex,
    valid: [[hex, hex.toLowerCase()]],
    invalid: [hex.slice(1), `${hex}0`, "zz".repeat(32)]
  },
  secretBytes: {
    parser: SecretParser.secretBytes,
    valid: [[hex, new Uint8Array(32).fill(0xab)]],
    invalid: [hex.slice(1), "zz".repeat(32)]
  },
  secretKeys: {
    parser: SecretParser.secretKeys,
    valid: [
      [hex, [new Uint8Array(32).fill(0xab)]],
      [`${hex} , ${other}`, [new Uint8Array(32).fill(0xab), new Uint8Array(32).fill(1)]],
      [`${hex}\n${other}`, [new Uint8Array(32).fill(0xab), new Uint8Array(32).fill(1)]]
    ],
    invalid: [`${hex},`, "a"]
  },
  secretBase64: {
    parser: SecretParser.secretBase64,
    valid: [["AQI=", new Uint8Array([1, 2])]],
    invalid: ["A", "?"]
  },
  databaseUrl: {
    parser: SecretParser.databaseUrl,
    valid: ["postgres://u:p@h/d", "postgres://u:p@one:5432,[::1]:6432/d?sslmode=require"].map((url) => [url, url]),
    invalid: [
      "mysql://u:p@h/d",
      "h",
      "postgres://u:p@one,/d",
      "postgres://one:x,two/d",
      "postgres://one,two/d?port=5432"
    ]
  }
}

describe.each(Object.entries(rules))("the parser %s", (_, { invalid, parser, valid }) => {
  it("accepts what is valid", () => {
    for (const [text, value] of valid) assert.deepStrictEqual(shown(parser.parse(text)), value, text)
  })

  it("refuses what is not", () => {
    for (const text of invalid) assert.isUndefined(parser.parse(text), text)
  })

  it("keeps a secret out of what is printed", () => {
    if (!parser.isSecret) return
    for (const [text] of valid) assert.notInclude(JSON.stringify(parser.parse(text)), text.slice(0, 8))
  })
})

describe("the parsers", () => {
  it("are all in the table above", () => {
    const made = [Parser, NetworkParser, SecretParser].flatMap((module) => Object.keys(module))
    const others = ["make", "described", "quoted", "listOf", "formatAddress", "parseAddress", "parseUrl"]
    assert.sameMembers([...Object.keys(rules), ...others], made)
  })
})

describe("the URL of a database with several servers", () => {
  it("stands for one URL of each, whatever is before and behind them", () => {
    assert.deepStrictEqual(DatabaseUrl.servers("postgres://u:a%40,b@one:5432,[::1]/d?x=1,2"), [
      "postgres://u:a%40,b@one:5432/d?x=1,2",
      "postgres://u:a%40,b@[::1]/d?x=1,2"
    ])
    assert.deepStrictEqual(DatabaseUrl.servers("postgres://u:p,q@h/d"), ["postgres://u:p,q@h/d"])
  })

  it("keeps them all when it is edited", () => {
    const edit = (url: URL) => {
      url.password = ""
      url.searchParams.delete("x")
    }
    assert.strictEqual(DatabaseUrl.edited("postgres://u:p@one:5,two:6/d?x=1", edit), "postgres://u@one:5,two:6/d")
    assert.strictEqual(DatabaseUrl.edited("postgres://u:p@one:5/d?x=1", edit), "postgres://u@one:5/d")
  })
})
