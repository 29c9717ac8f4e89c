/** Gives the tests the agent and the platform, in CATENET_TEST_AGENT and CATENET_TEST_PLATFORM. */
import { give } from "./BuiltPrograms.ts"

export default () => give("ct-agent", "catenet")
