/** Every command of the program. A module is loaded when its command is typed, so that a fast command loads little. */
import type { CommandEntry } from "./command.ts";

/** What carries sessions, and what is done around them. */
const working: readonly CommandEntry[] = [
  { name: "dev", summary: "a whole project in one process, with its API", load: () => import("./commands/dev.ts") },
  { name: "init", summary: "a working project", load: () => import("./commands/init.ts") },
  { name: "run", summary: "a goal in this one process until it ends or waits", load: () => import("./commands/run.ts") },
  { name: "serve", summary: "any subset of the roles, until it is told to stop", load: () => import("./commands/serve.ts") },
  { name: "advance", summary: "the one cycle that is owed: for shell loops and cron", load: () => import("./commands/advance.ts") },
  { name: "validate", summary: "is this goal or config right, and what does it amount to", load: () => import("./commands/validate.ts") },
  { name: "doctor", summary: "is everything set as it must be", load: () => import("./commands/doctor.ts") },
  { name: "infra", summary: "Kafka, Redis and a registry on this machine, without Docker", load: () => import("./commands/infra.ts") },
  { name: "topics", summary: "the topics of a prefix as they must be", load: () => import("./commands/topics.ts") },
  { name: "audit", summary: "an independent judgement of a ledger and of what was done on it", load: () => import("./commands/audit.ts") },
  { name: "step", summary: "tools, steps, observations and budget, from inside a maker", load: () => import("./commands/step.ts") },
  { name: "completion", summary: "shell completion", load: () => import("./commands/completion.ts") },
];

/** What looks at a ledger. */
const looking: readonly CommandEntry[] = [
  { name: "ls", summary: "the sessions, newest first", load: () => import("./commands/ls.ts") },
  { name: "status", summary: "how a session stands", load: () => import("./commands/status.ts") },
  { name: "wait", summary: "until a session has ended or waits for somebody", load: () => import("./commands/wait.ts") },
  { name: "explain", summary: "what is established, why it stands still, and what to type", load: () => import("./commands/explain.ts") },
  { name: "events", summary: "the records of a session", load: () => import("./commands/events.ts") },
  { name: "logs", summary: "what maker and check printed", load: () => import("./commands/logs.ts") },
  { name: "verify", summary: "runs the check again: does the receipt still hold?", load: () => import("./commands/verify.ts") },
  { name: "approvals", summary: "the decisions that people are waited for", load: () => import("./commands/approvals.ts") },
  { name: "ledger", summary: "the ledger itself: dump", load: () => import("./commands/ledger.ts") },
  { name: "dlq", summary: "records of the goals topic that could not be taken in: list, show, replay", load: () => import("./commands/dlq.ts") },
  { name: "projections", summary: "read models: create, compare, use, drop, ls", load: () => import("./commands/projections.ts") },
];

const decisions = (word: "approve" | "reject" | "retry" | "modify") => async () => ({ register: (await import("./commands/decisions.ts"))[word] });
/** What a person does to a session. */
const acting: readonly CommandEntry[] = [
  { name: "submit", summary: "takes a goal in", load: () => import("./commands/submit.ts") },
  { name: "approve", summary: "lets the proposed action through", load: decisions("approve") },
  { name: "reject", summary: "refuses the proposed action and ends the session", load: decisions("reject") },
  { name: "retry", summary: "has the step run again", load: decisions("retry") },
  { name: "modify", summary: "lets another action through than the proposed one", load: decisions("modify") },
  { name: "checkpoint", summary: "asks for a human decision", load: () => import("./commands/checkpoint.ts") },
  { name: "reconcile", summary: "settles an effect whose outcome is unknown", load: () => import("./commands/reconcile.ts") },
  { name: "pause", summary: "pauses a session", load: () => import("./commands/pause.ts") },
  { name: "resume", summary: "goes on after a pause, a suspension or a hand-off", load: () => import("./commands/resume.ts") },
  { name: "cancel", summary: "ends a session", load: () => import("./commands/cancel.ts") },
  { name: "guide", summary: "advice for the next build", load: () => import("./commands/guide.ts") },
  { name: "budget", summary: "raises the budget of a session", load: () => import("./commands/budget.ts") },
];

export const commandList: readonly CommandEntry[] = [...working, ...acting, ...looking];
