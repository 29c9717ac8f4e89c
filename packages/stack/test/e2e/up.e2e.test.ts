/**
 * What a newcomer gets by one command, and what is left of it afterwards.
 * One file, since all cases look at one start of the whole stack, which is the dearest part.
 */
import { connectMcp, type McpEntry } from "@catenet/testing/agent/McpClient"
import { eventually } from "@catenet/testing/Eventually"
import { agent, catenet, endsWithUs, Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { existsSync, readFileSync, statSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "../architecture/Imports.ts"
import { owner, ownersToken } from "./People.ts"
import { provision } from "./Tunnel.ts"

let stack: Stack
const hello = (): Target => ({ host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root })

/** What the line that the banner shows prints. */
const callsDemoChannel = async () => {
  const [, text, file] = /echo "(.*)" \| npx ct-agent channel --config (\S+)/.exec(stack.running.stdout) ?? []
  const line = `cd "$0" && printf '%s' '${text}' | "$@"`
  const call = agent(["channel", "--config", file ?? ""], {}, ["sh", "-c", line, stack.folder])
  const { code, stderr, stdout } = await call.ended
  assert.strictEqual(code, 0, stderr)
  return stdout
}

const keysOfCaller = () =>
  readFileSync(stack.path("demo-caller.env"), "utf8")
    .split("\n")
    .filter((line) => line.includes("_KEY="))
    .join()

/** One that has ended by itself already needs no signal. */
const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause
  }
}

describe("catenet up", () => {
  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up([], { CT_CP_OPERATOR_NAME: "Ada the Operator", CT_CP_SHUTDOWN_GRACE_SECS: "1" })
  })
  afterAll(() => stack.dispose())

  it("shows everything a new user needs on one screen", () => {
    const { stdout } = stack.running
    for (const text of [
      `https://hello.localhost:${stack.ports.frontDoor}/`,
      "/status",
      "/docs",
      "curl --cacert",
      "development-root.pem",
      "demo@catenet.localhost",
      "npx ct-agent http 3000 --config"
    ])
      assert.include(stdout, text)
    assert.isBelow(stdout.split("\n").length, 40)
  })

  it("answers a visitor with the origin's page, under the development root", async () => {
    const answer = await ask(hello())
    assert.strictEqual(answer.status, 200)
    assert.include(answer.body.toString(), "Hello from your machine")
    await ask({ ...hello(), ca: "" }).then(
      () => assert.fail("a visitor without the root must not be served"),
      (cause: NodeJS.ErrnoException) => assert.match(String(cause.code), /CERT|ISSUER|SELF_SIGNED|VERIFY/)
    )
  })

  it("answers the shown call over the demo channel", async () => {
    assert.strictEqual(await callsDemoChannel(), "Hello from the other end of the channel. You wrote: a haiku\n")
    assert.strictEqual(statSync(stack.path("demo-caller.env")).mode & 0o777, 0o600)
  })

  it("calls the bridge tools of an agent for its owner, and shows what they say of it", async () => {
    const call = await owner(stack)
    const { id } = (await call("GET", "/me/tunnels")).find(
      ({ hostname }: { hostname: string }) => hostname === "hello.localhost"
    )
    const ask = (tool: string, args: unknown = {}) =>
      call("POST", `/me/tunnels/${id}/agent-bridge/call`, { tool, arguments: args })
    assert.isTrue((await ask("bridge/status")).result.bridge_gated)
    const { result } = await ask("bridge/config")
    assert.deepInclude(result, { role: "accept", channel_id_configured: true, cp_url_configured: false })
    const row = (await call("GET", "/me/fleet")).find((each: { id: string }) => each.id === id)
    assert.strictEqual(row.agent_version, result.version)
    assert.include(row.gaps, "cp_url_configured")
    assert.isBelow(row.bridge_last_seen_secs_ago, 60)
    await ask("bridge/nothing").then(
      () => assert.fail("an agent has no such tool"),
      (error: Error) => assert.include(error.message, "unknown tool: bridge/nothing")
    )
  })

  it.concurrent(
    "invites another machine by one line, whose MCP client calls the peer until it is removed",
    async () => {
      const call = await owner(stack)
      const [channel] = (await call("GET", "/me/channels")).channels as ReadonlyArray<string>
      const operator = createHmac("sha256", stack.secrets["demoChannelSecret"] ?? "").update("demo channel, operator")
      const invited = await agent(["channel", "invite", "--mcp"], {
        CT_CHANNEL_ROLE: "accept",
        CT_CHANNEL_ID: channel ?? "",
        CT_AGENT_CP_URL: stack.url(""),
        CT_OIDC_TOKEN: await ownersToken(stack),
        CT_CHANNEL_OPERATOR_KEY: operator.digest("hex"),
        CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${stack.ports.frontDoor}`,
        CT_CHANNEL_FRONT_DOOR_CERT: stack.path("edge", "edge-cert.der"),
        CT_CHANNEL_FRONT_DOOR_ONLY: "1"
      }).ended
      assert.strictEqual(invited.code, 0, invited.stderr)
      const link = /^ct-agent channel join '(\S+)'\n$/.exec(invited.stdout)?.[1] ?? ""
      const [home, elsewhere] = [stack.path("home"), stack.path("elsewhere")]
      const joinedAt = (HOME: string, given = link) => agent(["channel", "join", given], { HOME }).ended

      const joined = await joinedAt(home)
      assert.strictEqual(joined.code, 0, joined.stderr)
      const [entry] = Object.values<McpEntry>(JSON.parse(joined.stdout).mcpServers)
      const file = entry?.args.at(-1) ?? ""
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const stored = readFileSync(file, "utf8")
      for (const key of stored.matchAll(/_KEY=(.*)/gu))
        assert.notInclude(`${link}${joined.stdout}${joined.stderr}`, key[1] ?? "")

      const again = await joinedAt(home)
      assert.deepStrictEqual([again.code, again.stdout], [0, joined.stdout], "the line may be given again")
      const used = await joinedAt(elsewhere)
      assert.strictEqual(used.code, 4)
      assert.include(used.stderr, "used already")
      assert.strictEqual((await joinedAt(elsewhere, link.slice(0, -1))).code, 2)
      const [at = "", secrets = ""] = link.split("#")
      const unknown = await joinedAt(elsewhere, `${at}#${"A".repeat(43)}${secrets.slice(43)}`)
      assert.strictEqual(unknown.code, 4)
      assert.include(unknown.stderr, "does not know")

      const client = await connectMcp(entry ?? { command: "", args: [] }, {
        HOME: home,
        PATH: process.env["PATH"] ?? ""
      })
      try {
        const { tools } = await client.listTools()
        assert.include(
          tools.map(({ name }) => name),
          "service/text_generation"
        )
        const ask = () => client.callTool({ name: "service/text_generation", arguments: { input: "a haiku" } })
        assert.include(JSON.stringify(await ask()), "You wrote: a haiku")
        const members = (await call("GET", `/me/channels/${channel}/members`)).members as ReadonlyArray<{
          holder: string
        }>
        const grant = /CT_CHANNEL_GRANT=(.*)/u.exec(stored)?.[1] ?? ""
        const member = members.find(({ holder }) => grant.includes(holder))
        await call("POST", `/me/channels/${channel}/members/${member?.holder}/remove`, {})
        const removed = performance.now()
        const answers: Array<string> = []
        while (!answers.at(-1)?.includes("Ask the channel's owner") && performance.now() - removed < 5000)
          answers.push(JSON.stringify(await ask().catch((error: Error) => error.message)))
        const late = answers.filter(
          (said) => !/You wrote: a haiku|The channel does not know|session was cut/u.test(said)
        )
        assert.deepStrictEqual(late, [], "each call is answered, cut or refused by a sentence")
        assert.include(answers.at(-1), "Ask the channel's owner")
      } finally {
        await client.close()
      }
      const called = await agent(["channel", "--config", file], { HOME: home, CT_CHANNEL_CALL: "tools/list" }).ended
      assert.strictEqual(called.code, 4)
      assert.include(called.stderr, "Ask the channel's owner")
    }
  )

  it("serves status and documentation", async () => {
    const status = await stack.status()
    assert.strictEqual(status["ready"], true)
    assert.strictEqual(status["oidc_enabled"], true)
    await eventually(async () => (await stack.status())["agents"] === 1, "the count of the demo agent")
    assert.strictEqual((await fetch(stack.url("/docs"))).status, 200)
    const openapi = (await (await fetch(stack.url("/openapi.json"))).json()) as Record<string, unknown>
    assert.match(String(openapi["openapi"]), /^3\.1/)
  })

  it("passes the operator's variables to the program that reads them", async () => {
    assert.include(await (await fetch(stack.url("/impressum"))).text(), "Ada the Operator")
  })

  it("answers for every name below localhost that a tunnel has, under the development root", async () => {
    for (const hostname of ["third.localhost", "fourth.localhost"]) {
      await provision(stack, hostname, 1)
      const answers = () => ask({ ...hello(), host: hostname }).then(({ status }) => status === 502 || status === 503)
      await eventually(() => answers().catch(() => false), `a certificate for ${hostname}`, 20_000)
    }
    assert.strictEqual((await ask(hello())).status, 200)
  })

  it("gives no tunnel a name that is the stack's own or looks like it", async () => {
    const bearer = await ownersToken(stack)
    for (const hostname of ["localhost", "portal.localhost", "auth.localhost", "catenet.localhost"]) {
      const answer = await fetch(stack.url("/me/tunnels"), {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "own", hostname })
      })
      assert.strictEqual(answer.status, 409, `${hostname} ${await answer.clone().text()}`)
      assert.deepInclude(await answer.json(), { code: "HostnameReserved", hostname })
    }
  })

  it("ends on Ctrl-C with nothing left running, and takes everything up again", async () => {
    const pids = ["postgres", "idp", "control-plane", "edge", "origin", "agent", "channel"].map((name) =>
      stack.pid(name)
    )
    const keys = keysOfCaller()
    const unfinished = connect(stack.ports.controlPlane, "127.0.0.1")
    unfinished.on("error", () => {}).write("GET /status HTTP/1.1\r\n")
    // As a service manager does: everything gets the signal at once, and the control plane waits for its last request.
    const ending = stack.down("SIGINT")
    for (const pid of pids) signal(pid, "SIGTERM")
    const { code, stderr } = await ending
    assert.include([0, 130], code)
    assert.notInclude(stderr, "starting it again")
    for (const pid of pids) assert.throws(() => process.kill(pid, 0))
    await stack.up()
    const answer = await ask(hello())
    assert.strictEqual(answer.status, 200)
    assert.strictEqual((await stack.status())["agents"], 1, "a second start redeems nothing again")
    assert.strictEqual(keysOfCaller(), keys, "a second start makes no new keys")
    assert.include(await callsDemoChannel(), "a haiku")
  })

  it("gives a local port the public address that the README's second command prints", async () => {
    const readme = readFileSync(join(root, "README.md"), "utf8")
    const [, command = "", shown = ""] = /```sh\n(npx ct-agent .+)\n```\n\n```text\n(.+)\n```/u.exec(readme) ?? []
    const printed = (port: number, frontDoor: number) =>
      new RegExp(`^https://[a-z0-9-]+-${port}-[0-9a-f]{8}\\.localhost:${frontDoor}/$`, "u")
    assert.match(shown, printed(3000, 8443))
    const origin = createHttpServer((_, response) => response.end("my own port")).listen(0, "127.0.0.1")
    await once(origin, "listening")
    const { port } = origin.address() as AddressInfo
    const [, , ...words] = command.replace("3000", `${port}`).replace(".catenet", stack.path()).split(" ")
    const started = agent(words)
    try {
      await eventually(() => started.stdout.endsWith("\n"), "an address", 60_000)
      const address = started.stdout.trim()
      assert.match(address, printed(port, stack.ports.frontDoor))
      const target = { ...hello(), host: new URL(address).hostname }
      const body = () => ask(target).then((answer) => answer.body.toString(), String)
      await eventually(async () => (await body()) === "my own port", "the visitor's answer", 30_000)
    } finally {
      await started.stop("SIGINT")
      origin.close()
    }
  })
})

describe("catenet up on another PostgreSQL", () => {
  it("uses the server that CT_CP_DATABASE_URL names, and starts none", async () => {
    const other = await Stack.make()
    const url = process.env["CATENET_TEST_DATABASE_URL"] ?? ""
    try {
      const running = await other.up(["--no-demo"], { CT_CP_DATABASE_URL: url })
      assert.include(running.stderr, "CT_CP_DATABASE_URL")
      assert.strictEqual((await other.status())["ready"], true)
      assert.throws(() => other.pid("postgres"))
      assert.isFalse(existsSync(other.path("postgres")))
      assert.notInclude(running.stdout, "hello.localhost")
    } finally {
      await other.dispose()
    }
  })
})

describe("catenet up, refused", () => {
  it("names the taken port and the variable that moves it", async () => {
    const other = await Stack.make()
    const blocker = createServer().listen(other.ports.frontDoor, "127.0.0.1")
    try {
      const { code, stderr } = await catenet(["up"], other.env).ended
      assert.strictEqual(code, 3)
      assert.include(stderr, String(other.ports.frontDoor))
      assert.include(stderr, "CT_FRONT_DOOR")
      assert.notMatch(stderr, /^\s+at /m)
    } finally {
      blocker.close()
      await other.dispose()
    }
  })

  it("names variables that would have no effect", async () => {
    const other = await Stack.make()
    try {
      const more = { CT_OIDC_ISSUER: "https://login.example.test/realms/x", CT_CP_OPERATOR_NANE: "Ada" }
      const program = catenet(["up"], { ...other.env, ...endsWithUs, ...more })
      void program.printed("Catenet is up").then(
        () => program.stop(),
        () => {}
      )
      const { code, stderr } = await program.ended
      assert.strictEqual(code, 3)
      assert.match(stderr, /CT_OIDC_ISSUER: the stack sets/)
      assert.match(stderr, /CT_CP_OPERATOR_NANE: no program/)
      assert.notInclude(stderr, "login.example.test")
    } finally {
      await other.dispose()
    }
  })

  it("says what the program said that did not come up, and ends with its code", async () => {
    const other = await Stack.make()
    try {
      const away = {
        CT_CP_DATABASE_URL: "postgres://catenet:wrong@127.0.0.1:1/none?sslmode=verify-ca&sslrootcert=/none"
      }
      const { code, stderr } = await catenet(["up"], { ...other.env, ...away }).ended
      assert.strictEqual(code, 3, stderr)
      assert.match(
        stderr,
        /^Error: control-plane did not come up: CT_CP_DATABASE_URL needs \/none, its sslrootcert, .*\. Its log is .*\.log\.$/mu
      )
      assert.notInclude(stderr, "wrong@")
    } finally {
      await other.dispose()
    }
  })

  it("names a malformed variable", async () => {
    const { code, stderr } = await catenet(["up"], { CT_FRONT_DOOR: "nonsense" }).ended
    assert.strictEqual(code, 3)
    assert.include(stderr, "CT_FRONT_DOOR")
  })
})
