/** Cron expressions for the schedules of sessions. */
export { cronRules } from "./cron-rules.ts";
