import { browserInfo } from "./browser-info.ts";
import { pageTime } from "./page-time.ts";
import type { PageTool } from "./page-tool.ts";
import { pickColor } from "./pick-color.ts";

/** The tools that every session begun in this page has. */
export const pageTools: readonly PageTool[] = [pickColor, pageTime, browserInfo];
