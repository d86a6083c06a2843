export { applyEvents } from "./view/apply-events.ts";
export type {
  SessionView,
  ViewAnswer,
  ViewCall,
  ViewEnd,
  ViewMessage,
  ViewPart,
  ViewProgress,
  ViewRun,
} from "./view/session-view.ts";
export { latestBelow, siblingsOf, versionsOf } from "./view/versions-of.ts";
export { viewOf } from "./view/view-of.ts";
