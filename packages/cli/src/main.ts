#!/usr/bin/env node
/** The `loopledger` command. */
import { runProgram } from "./program.ts";

await runProgram(process.argv.slice(2));
