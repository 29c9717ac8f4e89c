/** How the command line answers about itself: asked-for help on stdout, complaints and the usage that follows on stderr. */
import { Effect } from "effect"
import { CliOutput } from "effect/cli"

const formatter = (stream: NodeJS.WriteStream) =>
  CliOutput.defaultFormatter({ colors: stream.isTTY && (process.env["NO_COLOR"] ?? "") === "" })

export const layer = CliOutput.layerPresenter({
  present: (event) =>
    Effect.sync(() => {
      const { stdout, stderr } = process
      switch (event._tag) {
        case "Help":
          stdout.write(`${formatter(stdout).formatHelpDoc(event.helpDoc)}\n`)
          return
        case "InvalidInvocation":
          stderr.write(`${formatter(stderr).formatErrors(event.errors).trim()}\n\n`)
          stderr.write(`${formatter(stderr).formatHelpDoc(event.helpDoc)}\n`)
          return
        case "Version":
          stdout.write(`${event.name} ${event.version}\n`)
      }
    })
})
