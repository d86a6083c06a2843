/** Computes the dates of schedules from rules such as cron expressions. */
export interface ScheduleRules {
  /**
   * The first date after `after`, both in milliseconds since the epoch; `undefined`: there is none. `timeZone` is an IANA name that the platform knows.
   * @throws Error for a rule that cannot be read, with the reason
   */
  next(rule: string, when: { readonly after: number; readonly timeZone: string }): number | undefined;
}
