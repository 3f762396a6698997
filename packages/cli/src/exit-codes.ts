/** The exit codes of the command: the same ones with which every process of this project leaves. */
export { type ExitCode, type Standing, exitCodeOf, exitCodes, isAtRest } from "@loopledger/composition/exit-codes";
