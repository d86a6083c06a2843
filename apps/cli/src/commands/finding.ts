/** One thing that `doctor` looked at. */
export interface Finding {
  readonly what: string;
  readonly state: "ok" | "note" | "bad";
  readonly text: string;
}
