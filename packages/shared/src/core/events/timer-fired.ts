/** `timer_fired`: the kinds of durable timers, and the record by which one fires. */
import { z } from "zod";
import { defineEvent } from "./define.ts";
import { eventId } from "./fields.ts";

const kind = z.enum(["retry", "check", "approval"]);
export type TimerKind = z.infer<typeof kind>;

/** A timer came due by its own append time. `timer` is the eventId of the record that armed it. */
export const timerFired = defineEvent("timer_fired", { authorship: ["derived"], writers: ["scheduler"] },
  z.strictObject({ timer: eventId, kind }));
