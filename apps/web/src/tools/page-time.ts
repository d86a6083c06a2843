import type { PageTool } from "./page-tool.ts";

/** The tool `page_time`: the time and time zone of the browser. */
export const pageTime: PageTool = {
  declared: {
    name: "page_time",
    label: "Time in the browser",
    description: "Tells the current time, time zone and language of the user's browser, which may differ from the server's.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
  },
  asksPerson: false,
  run() {
    const now = new Date();
    const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions();
    return JSON.stringify({ iso: now.toISOString(), local: now.toLocaleString(), timeZone, locale });
  },
};
