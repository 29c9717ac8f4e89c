/** Gives the tests the agent, in CATENET_TEST_AGENT. */
import { give } from "./BuiltPrograms.ts"

export default () => give("ct-agent")
