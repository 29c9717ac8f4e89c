import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, FileSystem, Logger, Redacted, type Scope } from "effect"
import { address } from "../src/NetworkParser.ts"
import { cap, literal, path, quoted, text, whole } from "../src/Parser.ts"
import { secret, secretHex } from "../src/SecretParser.ts"
import { defaulted, optional, required, withFamily } from "../src/Variable.ts"
import * as VariableReader from "../src/VariableReader.ts"

const variables = {
  listen: required("CT_T_LISTEN", address, "Where it listens."),
  count: defaulted("CT_T_COUNT", quoted(whole(1, 9)), "3", "How many."),
  limit: defaulted("CT_T_LIMIT", cap("none"), "5", "The most.", { isLenient: true }),
  protocol: defaulted("CT_T_PROTO", literal("tcp", "udp"), "tcp", "Which.", { isBlankRefused: true }),
  host: optional("CT_T_HOST", text, "A host."),
  upstream: optional("CT_T_UPSTREAM", address, "What serves the host.", { needs: "CT_T_HOST" }),
  folder: optional("CT_T_FOLDER", path, "A folder."),
  token: optional("CT_T_TOKEN", secretHex, "A token."),
  accounts: withFamily(
    optional("CT_T_NAMES", text, "Names."),
    [
      {
        name: "CT_T_<NAME>_KEY",
        meaning: "Its key.",
        expected: "a text",
        default: undefined,
        isRequired: false,
        isSecret: true
      }
    ],
    (name) =>
      name === undefined ? Config.succeed(undefined) : optional(`CT_T_${name.toUpperCase()}_KEY`, secret, "").config
  )
}

const given = { CT_T_LISTEN: "127.0.0.1:80" }
const hex = "ab".repeat(32)

const read = (environment: Readonly<Record<string, string>>, options?: VariableReader.Options<typeof variables>) =>
  VariableReader.read(variables, options).pipe(
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: environment, preserveEmptyStrings: true })
    ),
    Effect.provide(NodeFileSystem.layer)
  )

const messageOf = (environment: Readonly<Record<string, string>>, options?: VariableReader.Options<typeof variables>) =>
  Effect.map(Effect.flip(read(environment, options)), ({ message }) => message)

/** The warnings of one reading. */
const warnings = (environment: Readonly<Record<string, string>>, options?: VariableReader.Options<typeof variables>) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void said.push(String(message)))
    yield* Effect.ignore(read(environment, options)).pipe(Effect.provide(Logger.layer([logger])))
    return said
  })

const secretFile = Effect.fnUntraced(function* (contents: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped()
  yield* fs.writeFileString(file, contents)
  return file
})

const withFiles = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("the reader of variables", () => {
  it.effect("has the defaults where nothing is set, and an empty variable counts as unset", () =>
    Effect.gen(function* () {
      const unset = yield* read(given)
      assert.deepStrictEqual(
        { ...unset },
        {
          listen: { host: "127.0.0.1", port: 80 },
          count: 3,
          limit: 5,
          protocol: "tcp",
          host: undefined,
          upstream: undefined,
          folder: undefined,
          token: undefined,
          accounts: undefined
        }
      )
      assert.deepStrictEqual(yield* read({ ...given, CT_T_COUNT: " ", CT_T_FOLDER: "", CT_T_TOKEN: "" }), unset)
    })
  )

  it.effect("trims texts", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ ...given, CT_T_FOLDER: " /a b " })).folder, "/a b")
    })
  )

  it.effect("reports every problem, each with its variable and remedy", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(
        read({ CT_T_COUNT: "ten", CT_T_TOKEN: "hunter2", CT_T_PROTO: "http", CT_T_LIMIT: "many" })
      )
      assert.deepStrictEqual(refusal.problems, [
        {
          variable: "CT_T_LISTEN",
          problem: "is not set",
          remedy: "set it to a host and a port, such as 127.0.0.1:8090"
        },
        {
          variable: "CT_T_COUNT",
          problem: 'is "ten", which is not a whole number from 1 to 9',
          remedy: "correct it, or unset it for 3"
        },
        { variable: "CT_T_PROTO", problem: "is not tcp or udp", remedy: "correct it, or unset it for tcp" },
        {
          variable: "CT_T_TOKEN",
          problem: "is not 64 hex digits",
          remedy: "generate one with: openssl rand -hex 32"
        }
      ])
      assert.strictEqual(refusal._tag, "ConfigurationInvalid")
      assert.notInclude(refusal.message, "hunter2")
      assert.lengthOf(refusal.message.split("\n"), 4)
    })
  )

  it.effect("takes the default of a lenient variable for what does not parse", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ ...given, CT_T_LIMIT: "many" })).limit, 5)
      assert.strictEqual((yield* read({ ...given, CT_T_LIMIT: "none" })).limit, Number.POSITIVE_INFINITY)
    })
  )

  it.effect("refuses an empty variable only where that is asked for", () =>
    Effect.gen(function* () {
      assert.match(yield* messageOf({ ...given, CT_T_PROTO: "" }), /^CT_T_PROTO is not tcp or udp; /)
    })
  )

  it.effect("refuses a variable that needs another one only when that is set", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* read({ ...given, CT_T_UPSTREAM: "x" })).upstream)
      assert.match(yield* messageOf({ ...given, CT_T_UPSTREAM: "x", CT_T_HOST: "h" }), /^CT_T_UPSTREAM is not a host/)
    })
  )

  it.effect("applies rules to the values, and reports one problem for each variable", () =>
    Effect.gen(function* () {
      const rules = ({ count, listen }: VariableReader.PartialValues<typeof variables>) =>
        count === 3 && listen === undefined
          ? [
              { variable: "CT_T_LISTEN", problem: "is odd", remedy: "correct it" },
              { variable: "CT_T_HOST", problem: "is not set although the count is 3", remedy: "set it" }
            ]
          : []
      assert.strictEqual(
        yield* messageOf({ CT_T_LISTEN: "x" }, { rules }),
        "CT_T_LISTEN is not a host and a port; set it to something like 127.0.0.1:8090.\n" +
          "CT_T_HOST is not set although the count is 3; set it."
      )
      assert.strictEqual((yield* read(given, { rules })).count, 3)
    })
  )

  it.effect("takes each variable from the first source that has it, also where one name begins another", () =>
    Effect.gen(function* () {
      const of = (env: Readonly<Record<string, string>>) => ConfigProvider.fromEnv({ env, preserveEmptyStrings: true })
      const values = yield* read(
        {},
        {
          sources: [
            of({ CT_T_LISTEN_X: "1", CT_T_COUNT: "1", CT_T_FOLDER: "" }),
            of({ ...given, CT_T_COUNT: "2", CT_T_HOST: "h", CT_T_FOLDER: "/f" })
          ]
        }
      )
      assert.deepInclude(values, { count: 1, host: "h", listen: { host: "127.0.0.1", port: 80 }, folder: undefined })
    })
  )
})

describe("a secret in a file", () => {
  it.effect("is read from X_FILE without its last line break, for variables of a family too", () =>
    withFiles(
      Effect.gen(function* () {
        const CT_T_TOKEN_FILE = yield* secretFile(`${hex}\n`)
        const CT_T_HOUSE_KEY_FILE = yield* secretFile("key\r\n")
        const { accounts, token } = yield* read({ ...given, CT_T_TOKEN_FILE, CT_T_NAMES: "house", CT_T_HOUSE_KEY_FILE })
        assert.strictEqual(token && Redacted.value(token), hex)
        assert.strictEqual(accounts && Redacted.value(accounts), "key")
      })
    )
  )

  it.effect("is refused next to the variable itself, and when it is unreadable, empty or malformed", () =>
    withFiles(
      Effect.gen(function* () {
        const file = yield* secretFile(hex)
        assert.strictEqual(
          yield* messageOf({ ...given, CT_T_TOKEN: hex, CT_T_TOKEN_FILE: file }),
          "CT_T_TOKEN is set, and so is CT_T_TOKEN_FILE; unset one of them."
        )
        assert.match(
          yield* messageOf({ ...given, CT_T_TOKEN_FILE: `${file}.none` }),
          /^CT_T_TOKEN_FILE names .*\.none, which cannot be read; /
        )
        const rules = () => [{ variable: "CT_T_TOKEN", problem: "is not set", remedy: "set it" }]
        const alone = yield* messageOf({ ...given, CT_T_TOKEN_FILE: `${file}.none` }, { rules })
        assert.notInclude(alone, "CT_T_TOKEN is not set", "what is wrong with its file is enough")
        const empty = yield* secretFile(" \n")
        assert.match(
          yield* messageOf({ ...given, CT_T_TOKEN_FILE: empty }),
          /which is empty; write the secret into it\.$/
        )
        const malformed = yield* secretFile("hunter2")
        const message = yield* messageOf({ ...given, CT_T_TOKEN_FILE: malformed })
        assert.match(message, /^CT_T_TOKEN is not 64 hex digits; /)
        assert.notInclude(message, "hunter2")
      })
    )
  )

  it.effect("is not looked for where X_FILE is empty, or where the variable is no secret", () =>
    Effect.gen(function* () {
      const { folder, token } = yield* read({ ...given, CT_T_TOKEN_FILE: " ", CT_T_FOLDER_FILE: "/none" })
      assert.isUndefined(token)
      assert.isUndefined(folder)
    })
  )
})

describe("what is given and not read", () => {
  it.effect("is named when it resembles a variable", () =>
    Effect.gen(function* () {
      const environment = {
        ...given,
        CT_T_FOLDR: "/",
        CT_T_HOSTSX: "nearer to CT_T_HOSTS than to CT_T_HOST",
        CT_T_TOKEN_FIL: "/",
        CT_FOREIGN: "1",
        CT_T_HOSTS: "read elsewhere",
        T_HOST: "1"
      }
      assert.deepStrictEqual(yield* warnings(environment, { known: ["CT_T_HOSTS"] }), [
        "CT_T_FOLDR is not read. Correct it if CT_T_FOLDER was meant.",
        "CT_T_HOSTSX is not read. Correct it if CT_T_HOSTS was meant.",
        "CT_T_TOKEN_FIL is not read. Correct it if CT_T_TOKEN_FILE was meant."
      ])
    })
  )

  it.effect("is named once with the reason where it has no effect", () =>
    Effect.gen(function* () {
      const unused = { CT_T_OLD: "the keys are in the database" }
      assert.deepStrictEqual(yield* warnings({ ...given, CT_T_OLD: "1" }, { unused }), [
        "CT_T_OLD has no effect: the keys are in the database."
      ])
      assert.deepStrictEqual(yield* warnings({ ...given, CT_T_OLD: " " }, { unused }), [])
    })
  )
})
