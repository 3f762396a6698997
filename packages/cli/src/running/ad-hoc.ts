/** Commands that a `run` brings itself: goals find them under names that start with `run/`, and only that `run` can run them. */
export { isOfRun as isAdHoc, runPrefix as adHocPrefix } from "@loopledger/shared/core/session/standstill";
