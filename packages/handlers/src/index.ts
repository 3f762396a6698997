export { exec, fn } from "./builders.ts";
export type { CheckInput, HandlersConfigInput, HttpTarget, MakerInput, ToolInput } from "./builders.ts";
export type { HandlersConfig } from "./config/handlers-config.ts";
export type { HandlersDeps } from "./deps.ts";
export type { FnCheckTask, FnMakerTask, FnToolCall } from "./inline/functions.ts";
export { makeHandlers } from "./registry.ts";
export { startStepServer } from "./steps/server.ts";
export type { StepServer } from "./steps/server.ts";
