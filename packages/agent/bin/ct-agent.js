#!/usr/bin/env node
import { launch } from "../../../scripts/launch.mjs"

launch(new URL("../src/main.ts", import.meta.url))
