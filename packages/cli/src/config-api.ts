/** What `import … from "loopledger"` finds where the package is installed; a config that a command runs gets the same without. */
export { StepRefused, defineConfig, exec, fn, http } from "@loopledger/composition/config-api";
export type {
  CheckFunction, CheckInput, FnCheckTask, FnMakerTask, FnToolCall, HttpTarget, LookFunction, MakerFunction, MakerInput, ProjectConfig, ToolFunction, ToolInput,
} from "@loopledger/composition/config-api";
